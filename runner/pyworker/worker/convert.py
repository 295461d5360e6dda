"""Converts arguments to the types in annotations.

This module converts scalars, containers.py converts containers, and shapes.py converts the user's own types.
Each converter has two methods, which return the converted value or raise Refused:

    json(value)                  converts a value of the arguments' JSON, and returns the very same object if it fits
    word(text, value, verbatim)  converts a word; value is its value without a type, which verbatim forbids

A converter also describes itself, see Converter.
"""

import _pyplug_worker as core

SHOWN = 80  # the maximum number of characters of a value in a message
INFINITE = {float("inf"), float("-inf")}  # what float makes of numbers that are too large
TRUE, FALSE = ("true", "yes", "on", "1"), ("false", "no", "off", "0")
DEEPEST = 8  # the maximum number of levels in an example
NoneType = type(None)
NUMBER, TEXT = {"type": "number"}, {"type": "string"}


class Refused(Exception):
    """Reports that an argument does not have the annotated type: the value, the expected type, and the place in the argument."""

    def __init__(self, value, want, why="", choices=(), problem=""):
        super().__init__(why)
        self.value, self.want, self.why, self.choices, self.problem = value, want, why, choices, problem
        self.path, self.others = "", []  # others are further problems, as (place, problem)

    def below(self, key):
        """Adds a key, or a position, in front of the place, and returns the error."""
        step = core.part("values").step(key)
        self.path = step + self.path
        self.others = [(step + path, what) for path, what in self.others]
        return self


class Inexact(Exception):
    """Reports that the conversion depends on the literal of a number, which was not kept."""


def shown(value):
    """Returns a value for a message, as JSON, cut if it is long."""
    without_limit = core.part("start").without_limit
    try:
        text = value.literal if type(value) is Number else without_limit(core.encode, value).decode()
    except Exception:
        text = without_limit(repr, value)
    return text if len(text) <= SHOWN else text[:SHOWN] + "…"


def labels(choices):
    """Returns the words for the choices."""
    return list(dict.fromkeys(one if isinstance(one, str) else core.encode(one).decode() for one in choices))


class Converter:
    text = ""  # the expected type, for messages
    why = ""  # why it leaves a value as it is, unless the annotation asks for that
    choices = ()  # the accepted values in JSON, if the annotation lists them
    fields = core.NOTHING  # the fields of an object: name → (converter, whether it is required, annotation, default)
    parts = ()  # the inner converters, except those in fields
    takes_text = False
    exact = False  # whether json returns a value as it is if it already has the type
    is_flag = False  # whether it accepts only a bool, and perhaps None
    sample = "text"  # an example in JSON

    @property
    def members(self):
        """Returns the members of a union, or only the converter itself."""
        return (self,)

    @property
    def bare(self):
        """Returns the converter without the validation that follows it."""
        return self

    def schema(self, maker):
        """Returns the JSON Schema of the accepted values, for json_schema.Maker, or {} for any value."""
        return {}

    def example(self, depth=0):
        """Returns an accepted value in JSON, or None if it would be nested too deeply."""
        if self.choices:
            return self.choices[0]
        return self.sampled(depth + 1) if depth <= DEEPEST else None

    def sampled(self, depth):
        return self.sample

    def unresolved(self, seen):
        """Returns why this or an inner converter leaves a value as it is, or "" if none does. seen has the visited converters."""
        if self in seen:
            return ""
        seen.add(self)
        return self.why or next(filter(None, self.inner_reasons(seen)), "")

    def inner_reasons(self, seen):
        return (one.unresolved(seen) for one in self.parts)


class Anything(Converter):
    """Leaves a value as it is. The attribute why has the reason; it is empty if the annotation allows any value."""

    takes_text = True

    def __init__(self, why=""):
        self.why = why

    def json(self, value):
        return literal_free(value) if Number.used else value

    def word(self, text, value, verbatim=False):
        return text if verbatim else self.json(value)


class Number(float):
    """Holds a JSON number and its literal."""

    used = False  # whether any Number was made

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
    """Accepts only values of one JSON type. kind is its class in Python, and type its name in JSON Schema."""

    exact = True
    kind = type = None

    def schema(self, maker):
        return {"type": self.type}

    def json(self, value):
        if type(value) is not self.kind:
            raise Refused(value, self.text)
        return value

    def takes_all(self, values):
        """Reports whether no value needs a conversion."""
        return {self.kind}.issuperset(map(type, values))


class Text(Plain):
    kind, text, type, takes_text = str, "str", "string", True

    def word(self, text, value, verbatim=False):
        return text


class Null(Plain):
    kind, text, type, sample = NoneType, "None", "null", None

    def word(self, text, value, verbatim=False):
        if verbatim or text != "null":
            raise Refused(text, self.text)


class Bool(Plain):
    kind, text, type, sample, is_flag = bool, "bool", "boolean", True, True

    def word(self, text, value, verbatim=False):
        if text.strip().lower() not in TRUE + FALSE:
            raise Refused(text, self.text)
        return text.strip().lower() in TRUE


class Int(Plain):
    kind, text, type, sample = int, "int", "integer", 1

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
    kind, text, type, sample = float, "float", "number", 1.5

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

    format = ""  # the format in JSON Schema

    def __init__(self, parse, text, takes_text=False):
        self.parse, self.text, self.takes_text = parse, text, takes_text

    def schema(self, maker):
        return {**TEXT, "format": self.format} if self.format and not maker.is_result else TEXT

    def json(self, value):
        if type(value) is not str:
            raise Refused(value, self.text)
        return self.word(value, value)

    def word(self, text, value, verbatim=False):
        try:
            return self.parse(text)
        except RecursionError:
            raise
        except Exception as error:  # re and zoneinfo raise exceptions of their own
            raise Refused(text, self.text, str(error)) from None


class Bytes(Parsed):
    """Converts a word to its bytes, and decodes base64 from JSON."""

    sample = "dGV4dA=="

    def schema(self, maker):
        return {**TEXT, "contentEncoding": "base64"}

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
    """Accepts text, and JSON numbers, which the function number converts."""

    def __init__(self, parse, text, number):
        super().__init__(parse, text)
        self.number = number

    def schema(self, maker):
        return {"anyOf": [super().schema(maker), NUMBER]}

    def json(self, value):
        if type(value) not in (int, float, Number):
            return super().json(value)
        try:
            return self.number(value)
        except (ValueError, ArithmeticError) as error:
            raise Refused(value, self.text, str(error)) from None
