"""Converts arguments to the types that annotations promise: scalars, containers and unions.

Each converter has two methods, which return the value or raise Refused:

    json(value)                  converts a value of the arguments' JSON, and returns the very same object if it fits
    word(text, value, verbatim)  converts a word; value is what it means where no type decides, unless it must be text
"""

from _operator import is_
from itertools import repeat

import _pyplug_worker as core

SHOWN = 80  # characters of a value that are shown
INFINITE = {float("inf"), float("-inf")}  # the float of a number that is too large
TRUE, FALSE = ("true", "yes", "on", "1"), ("false", "no", "off", "0")


class Refused(Exception):
    """An argument that is not what was promised: the value, what was wanted, and the place below the argument."""

    def __init__(self, value, want, why="", choices=(), problem=""):
        super().__init__(why)
        self.value, self.want, self.why, self.choices, self.problem = value, want, why, choices, problem
        self.path, self.others = "", []  # others are (place, what is wrong there)

    def below(self, key):
        """Adds a key, or a position, in front of the place, and returns the error."""
        step = core.part("values").step(key)
        self.path = step + self.path
        self.others = [(step + path, what) for path, what in self.others]
        return self


class Inexact(Exception):
    """The conversion depends on the literal of a number, which was not kept."""


def shown(value):
    """A value for a message, as JSON, cut if it is long."""
    without_limit = core.part("start").without_limit
    try:
        text = value.literal if type(value) is Number else without_limit(core.encode, value).decode()
    except Exception:
        text = without_limit(repr, value)
    return text if len(text) <= SHOWN else text[:SHOWN] + "…"


class Converter:
    text, choices, takes_text = "", (), False
    sample, format = "text", ""  # an example, as JSON has it, and the format in JSON Schema
    parts = ()  # the converters of what is within
    exact = False  # whether json returns a value as it is if it already has the type


class Anything(Converter):
    """Leaves a value as it is. why is the reason, unless the annotation says so."""

    takes_text = True

    def __init__(self, why=""):
        self.why = why

    def json(self, value):
        return literal_free(value) if Number.used else value

    def word(self, text, value, verbatim=False):
        return text if verbatim else self.json(value)


class Number(float):
    """A JSON number that keeps its literal."""

    used = False  # whether there are any

    def __init__(self, text):
        self.literal = text


def literal_free(value):
    """Replaces each Number in JSON by its float, in place."""
    if type(value) is Number:
        return float(value)
    if type(value) is list:
        value[:] = map(literal_free, value)
    elif type(value) is dict:
        for key in value:
            value[key] = literal_free(value[key])
    return value


class Plain(Converter):
    """Accepts only values of one JSON type."""

    exact = True

    def __init__(self, kind, text):
        self.kind, self.text = kind, text

    def json(self, value):
        if type(value) is not self.kind:
            raise Refused(value, self.text)
        return value

    def takes_all(self, values):
        """Reports whether no value needs a conversion."""
        return {self.kind}.issuperset(map(type, values))


class Text(Plain):
    takes_text = True

    def word(self, text, value, verbatim=False):
        return text


class Null(Plain):
    sample = None

    def word(self, text, value, verbatim=False):
        if verbatim or text != "null":
            raise Refused(text, self.text)


class Bool(Plain):
    sample = True

    def word(self, text, value, verbatim=False):
        if text.strip().lower() not in TRUE + FALSE:
            raise Refused(text, self.text)
        return text.strip().lower() in TRUE


class Int(Plain):
    sample = 1

    def json(self, value):
        if type(value) is int:
            return value
        if type(value) is float:
            raise Inexact
        if type(value) is Number:
            try:
                return self.word(value.literal, value)
            except Refused:
                pass
        raise Refused(value, self.text)

    def word(self, text, value, verbatim=False):
        whole, point, rest = text.strip().partition(".")
        digits = whole[1:] if whole[:1] in ("+", "-") else whole
        if not digits.isdigit() or not digits.isascii() or point and (not rest or rest.strip("0")):
            raise Refused(text, self.text)
        return core.part("start").without_limit(int, whole)


class Float(Plain):
    sample = 1.5

    def json(self, value):
        if type(value) not in (int, float, Number):
            raise Refused(value, self.text)
        try:
            found = float(value)
        except OverflowError as error:
            raise Refused(value, self.text, str(error)) from None
        if found in INFINITE:
            if type(value) is float:
                raise Inexact
            raise Refused(value, self.text, "it is too large")
        return found

    def takes_all(self, values):
        return super().takes_all(values) and INFINITE.isdisjoint(values)

    def word(self, text, value, verbatim=False):
        try:
            if not text.strip().isascii() or set(text) & set("nN_"):
                raise ValueError
            found = float(text)
        except ValueError:
            raise Refused(text, self.text) from None
        if found in INFINITE:
            raise Refused(text, self.text, "it is too large")
        return found


class Parsed(Converter):
    """Accepts text that a function parses."""

    def __init__(self, parse, text, takes_text=False):
        self.parse, self.text, self.takes_text = parse, text, takes_text

    def json(self, value):
        if type(value) is not str:
            raise Refused(value, self.text)
        return self.word(value, value)

    def word(self, text, value, verbatim=False):
        try:
            return self.parse(text)
        except RecursionError:
            raise
        except Exception as error:  # re and zoneinfo have their own
            raise Refused(text, self.text, str(error)) from None


class Bytes(Parsed):
    """Takes a word's bytes, and base64 from JSON."""

    sample = "dGV4dA=="

    def json(self, value):
        from binascii import a2b_base64, b2a_base64

        try:
            found = a2b_base64(value.encode("ascii"))
            if b2a_base64(found, newline=False).decode() != value:
                raise ValueError
        except (AttributeError, ValueError):  # not text, not ASCII, or not base64
            raise Refused(value, self.text + " as base64 text") from None
        return self.parse(found)

    def word(self, text, value, verbatim=False):
        try:
            return self.parse(text.encode("utf-8", "surrogateescape"))
        except UnicodeEncodeError as error:
            raise Refused(text, self.text, error.reason) from None


class Numeric(Parsed):
    """Accepts text, and JSON numbers, which another function converts."""

    def __init__(self, parse, text, number):
        super().__init__(parse, text)
        self.number = number

    def json(self, value):
        if type(value) not in (int, float, Number):
            return super().json(value)
        try:
            return self.number(value)
        except (ValueError, ArithmeticError) as error:
            raise Refused(value, self.text, str(error)) from None


class Later(Converter):
    """The converter of an alias within itself. take is set when the alias is complete."""

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
    """A list, or a type that is made from one: a set, a deque, a tuple of any length."""

    def __init__(self, make, item, text):
        self.make, self.item, self.text, self.parts = make, item, text, (item,)
        self.exact = make is list

    def json(self, value):
        if type(value) is not list:
            raise Refused(value, self.text)
        if isinstance(self.item, Plain) and self.item.takes_all(value):
            made = value
        else:
            made = each(repeat(self.item.json), value)
            if all(map(is_, made, value)):
                made = value
        return self.whole(made, value)

    def whole(self, items, value):
        """Makes the type of the items, which value became."""
        try:
            return items if self.make is list else self.make(items)
        except TypeError as error:
            raise Refused(value, self.text, str(error)) from None


class Row(Container):
    """A tuple with a type for each place."""

    def __init__(self, items, text):
        self.items, self.text, self.parts = items, text, items

    def json(self, value):
        if type(value) is not list or len(value) != len(self.items):
            raise Refused(value, self.text)
        return tuple(each([one.json for one in self.items], value))


class Table(Container):
    """A dictionary. Its keys convert as words do."""

    def __init__(self, make, key, item, text):
        self.make, self.key, self.item, self.text, self.parts = make, key, item, text, (key, item)
        self.exact = make is dict

    def json(self, value):
        if type(value) is not dict:
            raise Refused(value, self.text)
        made = {}
        for key, item in value.items():
            try:
                found = self.key.word(key, key)
                if found in made:
                    other = list(value)[list(made).index(found)]
                    raise Refused(key, "another key", "it is the same as the key " + shown(other))
                made[found] = self.item.json(item)
            except Refused as error:
                raise error.below(key)
            except TypeError as error:
                raise Refused(key, self.text, str(error)).below(key) from None
        if self.make is not dict:
            return self.make(made)
        return value if all(map(is_, made, value)) and all(map(is_, made.values(), value.values())) else made


class Union(Converter):
    """Accepts what one of its members accepts. For a word, the first one decides; those that accept any text come last.

    For JSON, the first member that accepts the value as it is decides, else the first one that converts it.
    """

    def __init__(self, members):
        self.members = self.parts = sorted(members, key=lambda one: type(one) is Anything)
        self.by_word = sorted(self.members, key=lambda one: (type(one) is not Null, one.takes_text))
        self.text = " or ".join(dict.fromkeys(", ".join(one.choices) or one.text for one in self.members if one.choices or one.text))
        self.takes_text = any(isinstance(one, (Text, Anything)) for one in members)
        self.unchanging = [one for one in self.members if one.exact]
        self.exact = bool(self.unchanging)
        some = [one for one in members if type(one) is not Null]
        self.choices = [choice for one in some for choice in one.choices] if all(one.choices for one in some) else ()

    def json(self, value):
        for member in self.unchanging:
            try:
                found = member.json(value)
            except Refused:
                continue
            if found is value or type(value) is Number and type(found) is float:
                return found
        return self.first(self.members, value, lambda one: one.json(value))

    def word(self, text, value, verbatim=False):
        if verbatim and self.takes_text:
            return text
        return self.first(self.by_word, text, lambda one: one.word(text, value, verbatim))

    def first(self, members, value, take):
        """Returns what the first member makes. It refuses as the only one does, or the only one about a part."""
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

