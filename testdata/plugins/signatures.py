"""Has parameters of every kind and type."""

import enum
import typing


class Colour(enum.Enum):
    """An enum."""

    RED = "red"
    BLUE = "blue"


def none():
    """No parameters."""
    return "none"


def positional_only(a, b=2, /):
    """Positional-only parameters."""
    return [a, b]


def keyword_only(*, a, b=2):
    """Keyword-only parameters."""
    return [a, b]


def variadic(first, *rest, last="z", **named):
    """Any number of arguments."""
    return [first, list(rest), last, named]


def scalars(text: str, whole: int, real: float, flag: bool) -> list:
    """One of each type; return the types received."""
    return [type(value).__name__ for value in (text, whole, real, flag)]


def defaults(text="x", whole=1, real=1.5, flag=False, nothing=None) -> list:
    """No annotations, but defaults; return the types received."""
    return [type(value).__name__ for value in (text, whole, real, flag, nothing)]


def optional(value: typing.Optional[int] = None, other: "typing.Union[int, str]" = 0) -> list:
    """Optional parameters."""
    return [value, other]


def containers(items: typing.List[int], table: typing.Dict[str, int], pair: tuple = ()) -> list:
    """Lists and dicts."""
    return [items, table, pair]


def literal(mode: "Literal['fast', 'slow']" = "fast", colour: Colour = Colour.RED) -> str:
    """An unresolvable annotation, and an enum."""
    return "{} {}".format(mode, colour)


def untyped(value):
    """No annotation or default; return the type received."""
    return type(value).__name__


def strange_default(value=object(), items=[1, 2], when=float("nan")) -> str:
    """Defaults that JSON cannot represent."""
    return "ok"
