"""Converts arguments to the user's own types: enums, literals, classes with fields, models, and types with limits."""

import sys
from _functools import reduce
from _operator import or_

import _pyplug_worker as core

convert, containers = core.part("convert"), core.part("containers")
annotations, scopes = core.part("annotations"), core.part("scopes")
Refused, Container, Anything = convert.Refused, containers.Container, convert.Anything
SCALARS = (str, int, float, type(None))
MAX_ERRORS = 5  # the maximum number of errors of a model that are reported


def is_json(value):
    """Reports whether JSON can represent a value of an enum or a Literal."""
    return isinstance(value, SCALARS) and value == value  # not NaN


class Chosen(convert.Converter):
    """Accepts one of several values: first an equal one of the same type, then an equal number, then a name."""

    exact = True

    def __init__(self, values, names, text):
        self.values = values  # (value in JSON, value in Python), in order
        self.names = names  # name → value in Python
        self.text = text
        first = {id(found): name for name, found in reversed(names.items())}
        given = [value if is_json(value) else first.get(id(found)) for value, found in values]
        self.choices = [one for (value, _), one in zip(values, given) if one is not None or value is None]

    def schema(self, maker):
        return {} if maker.is_result and not all(is_json(value) for value, _ in self.values) else {"enum": self.choices}

    def find(self, value):
        """Returns the chosen object for a value as a list of one, or an empty list."""
        found = [one for known, one in self.values if type(known) is type(value) and known == value]
        if not found and type(value) in (int, float, convert.Number):
            found = [one for known, one in self.values if type(known) in (int, float) and known == value]
        if not found and type(value) is str and value in self.names:
            found = [self.names[value]]
        return found[:1]

    def json(self, value):
        for found in self.find(value) or self.missing(value):
            return value if type(found) is type(value) and found == value else found
        raise Refused(value, self.want(), choices=self.choices)

    def word(self, text, value, verbatim=False):
        value = text if verbatim else value
        for found in self.find(value) or self.find(text) or self.missing(value) or self.missing(text):
            return found
        raise Refused(text, self.want(), choices=self.choices)

    def missing(self, value):
        """Returns the object for a value that find does not know, in the same form."""
        return []

    def want(self):
        return "one of " + ", ".join(convert.labels(self.choices)) if self.choices else self.text


class Member(Chosen):
    """Accepts a member of an enum by its value, else by its name, else by a call of the enum itself."""

    exact = False

    def __init__(self, kind, text):
        self.kind = kind
        super().__init__([(one.value, one) for one in kind], dict(kind.__members__), text)

    def schema(self, maker):
        found, own = super().schema(maker), self.kind._missing_
        if found and getattr(own, "__func__", own) is not sys.modules["enum"].Enum._missing_.__func__:  # the enum accepts more values, as a Flag does
            found = {"anyOf": [found, {"type": "integer"}, convert.TEXT]}
        return found

    def missing(self, value):
        try:
            return [self.kind(value)] if type(value) in (int, str) else []
        except Exception:  # ValueError, or an exception of its _missing_
            return []


class Flags(Member):
    """Accepts members of an enum.Flag, also as several names separated by |, as Python prints them."""

    def missing(self, value):
        parts = [self.names.get(part.strip()) for part in value.split("|")] if type(value) is str else [None]
        return super().missing(value) if None in parts else [reduce(or_, parts)]

    def want(self):
        return super().want() + ", or names such as " + "|".join(list(self.names)[:2])


def member(kind, text):
    return (Flags if issubclass(kind, sys.modules["enum"].Flag) else Member)(kind, text)


def required_of(fields, depth):
    """Returns an example of an object with its required fields."""
    return {name: take.example(depth) for name, (take, required, *_) in fields.items() if required}


class Fields(Container):
    """Converts an object to a dataclass, a named tuple or a TypedDict, whose fields are the object's keys."""

    def __init__(self, kind, text):
        self.kind, self.text = kind, text
        self.fields = {}  # filled later, because a class may contain itself

    def schema(self, maker):
        return maker.reference(self)

    def sampled(self, depth):
        return required_of(self.fields, depth)

    def inner_reasons(self, seen):
        for name, (one, *_) in self.fields.items():
            why = one.unresolved(seen)
            yield why if not why or why.startswith("in the field ") else "in the field %s.%s, %s" % (self.text, name, why)

    def field_text(self, name):
        """Returns the type of a field as in a signature."""
        return " or ".join(one.text for one in self.fields[name][0].members)

    def json(self, value):
        if type(value) is not dict:
            raise Refused(value, self.text)
        return self.made(value, self.read(value))

    def read(self, value):
        """Converts the fields that are present."""
        made = {}
        for name, (take, required, _, _) in self.fields.items():
            if name in value:
                try:
                    made[name] = take.json(value[name])
                except Refused as error:
                    raise error.below(name)
            elif required:
                raise Refused(value, self.text, problem="is missing", why=take.text).below(name)
        return made

    def made(self, value, fields):
        for name in value:
            if name not in fields:
                choices = list(self.fields)
                raise Refused(name, self.text, problem="is unknown", choices=choices).below(name)
        try:
            return self.kind(**fields)
        except Exception as error:
            raise refusal(value, self.text, error) from None


class Row(Fields):
    """Converts to a named tuple. It accepts an array, too."""

    def json(self, value):
        if type(value) is list:
            if len(value) > len(self.fields):
                raise Refused(value, self.text)
            value = dict(zip(self.fields, value))
        return super().json(value)


class Table(Fields):
    """Converts to a TypedDict. It keeps unknown keys."""

    exact = True

    def made(self, value, fields):
        if all(fields[name] is value[name] for name in fields):
            return value
        return {**value, **fields}


class Model(Container):
    """Accepts the values that a function validates, such as model_validate of a class. An inner converter may come first."""

    def __init__(self, kind, text, validate, inner=None):
        self.kind, self.text, self.validate, self.inner = kind, text, validate, inner
        if inner is not None:
            self.choices, self.takes_text, self.exact, self.parts = inner.choices, inner.takes_text, inner.exact, (inner,)
            self.is_flag = inner.is_flag

    @property
    def bare(self):
        return self.inner or self

    @property
    def fields(self):
        """Returns the fields of a pydantic model, which pydantic itself checks."""
        found = {} if self.inner else getattr(self.kind, "model_fields", {})
        scope = scopes.Scope(scopes.module(self.kind)) if found else None
        return {name: (annotations.attempt(scope.attempt(one.annotation)), one.is_required(), one.annotation, annotations.EMPTY) for name, one in found.items()}

    def field_text(self, name):
        return annotations.text_of(self.kind.model_fields[name].annotation)

    def schema(self, maker):
        return maker.model(self)

    def sampled(self, depth):
        if self.inner is not None:
            return self.inner.example(depth)
        return required_of(self.fields, depth) if self.fields else self.sample

    def json(self, value):
        return self.valid((self.inner or Anything()).json(value))

    def word(self, text, value, verbatim=False):
        if self.inner is not None:
            return self.valid(self.inner.word(text, value, verbatim))
        if verbatim or value is text:
            return self.valid(text)
        try:
            return self.json(value)
        except Refused as error:  # a word that looks like JSON may be text
            try:
                return self.valid(text)
            except Refused:
                raise error from None

    def valid(self, value):
        try:
            return self.validate(value)
        except Exception as error:
            raise refusal(value, self.text, error) from None


def refusal(value, text, error):
    """Returns the Refused for an exception of a constructor or validator. If it lists errors, the first one comes first."""
    try:
        found = [("".join(map(core.part("values").step, one["loc"])), one["msg"], one) for one in error.errors()]
        path, what, first = found[0]
        missing = first.get("type") == "missing"
        refused = Refused(first.get("input", value), "", "" if missing else what, problem="is missing" * missing)
    except Exception:  # it does not list errors
        return Refused(value, text, core.part("errors").summary(error))
    refused.path, refused.others = path, [(path, what) for path, what, _ in found[1:MAX_ERRORS]]
    if len(found) > MAX_ERRORS:
        refused.others.append(("", "%d more errors" % (len(found) - MAX_ERRORS)))
    return refused


def literal(values, text):
    """Makes the converter of a Literal. It accepts the value or the name of an enum member."""
    enum = getattr(sys.modules.get("enum"), "Enum", ())
    names = {one.name: one for one in values if isinstance(one, enum)}
    return Chosen([(one.value if isinstance(one, enum) else one, one) for one in values], names, text)


def limited(note, rules):
    """Makes the converter of an annotation with limits, or of a pydantic type. Returns None if pydantic cannot check it."""
    try:
        from pydantic import TypeAdapter
        from typing import Annotated

        validate = TypeAdapter(Annotated[(note, *rules)] if rules else note).validate_python
    except Exception:  # pydantic is missing or old, or does not know the type
        return None
    inner = None
    if rules and not any(hasattr(type(one), "__get_pydantic_core_schema__") for one in rules):  # the rules do not convert
        inner = annotations.of(note)
        if isinstance(inner, Anything):
            inner = None
    return Model(note, annotations.text_of(note), validate, inner)


def dumper(kind):
    """Returns a function that converts results of a class with pydantic, or None if pydantic cannot."""
    try:
        from pydantic import TypeAdapter

        adapter = TypeAdapter(kind)
    except Exception:
        return None
    return lambda value: adapter.dump_python(value, mode="json")
