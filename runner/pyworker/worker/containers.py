"""Converts arguments to containers and unions."""

from _operator import is_
from itertools import repeat

import _pyplug_worker as core

convert = core.part("convert")
Refused, Converter, Anything, Null = convert.Refused, convert.Converter, convert.Anything, convert.Null


class Later(Converter):
    """Converts values of an alias that contains itself. take is set when the alias is complete."""

    take = None

    def __init__(self, text):
        self.text = text

    def json(self, value):
        return self.take.json(value)

    def word(self, text, value, verbatim=False):
        return self.take.word(text, value, verbatim)


class Container(Converter):
    """Accepts a value from JSON. It converts a word in the same way."""

    def word(self, text, value, verbatim=False):
        return self.json(value)


def each(takes, values):
    """Converts each value of a list by its own function."""
    made = []
    try:
        for take, value in zip(takes, values):
            made.append(take(value))
    except Refused as error:
        raise error.below(len(made))
    return made


class Items(Container):
    """Converts to a list, or to a type that is made from one, such as a set, a deque or a tuple of any length."""

    def __init__(self, make, item, text):
        self.make, self.item, self.text, self.parts = make, item, text, (item,)
        self.exact = make is list

    def schema(self, maker):
        return {"type": "array", **maker.items(self.item)}

    def sampled(self, depth):
        return [] if isinstance(self.item, Anything) else [self.item.example(depth)]

    def json(self, value):
        if type(value) is not list:
            raise Refused(value, self.text)
        if isinstance(self.item, convert.Plain) and self.item.takes_all(value):
            made = value
        else:
            made = each(repeat(self.item.json), value)
            if all(map(is_, made, value)):
                made = value
        return self.whole(made, value)

    def whole(self, items, value):
        """Makes the container of the converted items of value."""
        try:
            return items if self.make is list else self.make(items)
        except TypeError as error:
            raise Refused(value, self.text, str(error)) from None


class Row(Container):
    """Converts to a tuple with a type for each place."""

    def __init__(self, items, text):
        self.items, self.text, self.parts = items, text, items

    def schema(self, maker):
        return maker.row([one.schema(maker) for one in self.items], len(self.items))

    def sampled(self, depth):
        return [one.example(depth) for one in self.items]

    def json(self, value):
        if type(value) is not list or len(value) != len(self.items):
            raise Refused(value, self.text)
        return tuple(each([one.json for one in self.items], value))


class Table(Container):
    """Converts to a dictionary. It converts a key in the same way as a word."""

    def __init__(self, make, key, item, text):
        self.make, self.key, self.item, self.text, self.parts = make, key, item, text, (key, item)
        self.exact = make is dict

    def schema(self, maker):
        value = self.item.schema(maker)
        return {"type": "object", "additionalProperties": value} if value else {"type": "object"}

    def sampled(self, depth):
        return {} if isinstance(self.key, Anything) else {str(self.key.example(depth)): self.item.example(depth)}

    def json(self, value):
        if type(value) is not dict:
            raise Refused(value, self.text)
        made = {}
        for key, item in value.items():
            try:
                found = self.key.word(key, key)
                if found in made:
                    other = list(value)[list(made).index(found)]
                    raise Refused(key, "another key", "it is the same as the key " + convert.shown(other))
                made[found] = self.item.json(item)
            except Refused as error:
                raise error.below(key)
            except TypeError as error:
                raise Refused(key, self.text, str(error)).below(key) from None
        if self.make is not dict:
            return self.make(made)
        return value if all(map(is_, made, value)) and all(map(is_, made.values(), value.values())) else made


class Union(Converter):
    """Converts to the type of one of its members.

    For a word, the first member that accepts it decides. Members that accept any text come last. For JSON, the first
    member that accepts the value as it is decides, or else the first one that converts it.
    """

    members = ()

    def __init__(self, members):
        self.members = self.parts = sorted(members, key=lambda one: type(one) is Anything)
        self.by_word = sorted(self.members, key=lambda one: (type(one) is not Null, one.takes_text))
        self.text = " or ".join(dict.fromkeys(", ".join(convert.labels(one.choices)) or one.text for one in self.members if one.choices or one.text))
        self.takes_text = any(isinstance(one, (convert.Text, Anything)) for one in members)
        self.unchanging = [one for one in self.members if one.exact]
        self.exact = bool(self.unchanging)
        self.some = [one for one in self.members if type(one) is not Null]
        self.choices = [choice for one in self.some for choice in one.choices] if all(one.choices for one in self.some) else ()
        self.is_flag = len(self.some) == 1 and self.some[0].is_flag

    def schema(self, maker):
        return maker.union(self.members)

    def sampled(self, depth):
        return self.some[0].example(depth) if self.some else None

    def json(self, value):
        for member in self.unchanging:
            try:
                found = member.json(value)
            except Refused:
                continue
            if found is value or type(value) is convert.Number and type(found) is float:
                return found
        return self.first(self.members, value, lambda one: one.json(value))

    def word(self, text, value, verbatim=False):
        if verbatim and self.takes_text:
            return text
        return self.first(self.by_word, text, lambda one: one.word(text, value, verbatim))

    def first(self, members, value, take):
        """Returns the value from the first member that accepts it.

        If none does, raises the error of the only member other than None, or the only error about a part of the value, or
        else a common error.
        """
        refusals = []
        for member in members:
            try:
                return take(member)
            except Refused as error:
                refusals.append(error)
        some = [one for one in refusals if one.want != "None"]
        inner = [one for one in refusals if one.path]
        if len(some) == 1 or len(inner) == 1:
            raise (inner or some)[0]
        raise Refused(value, self.text, choices=self.choices)

