"""Returns every value that can be represented, and echoes its arguments."""

import collections
import dataclasses
import datetime
import decimal
import enum
import fractions
import pathlib
import typing
import uuid


class Colour(enum.Enum):
    """An enum of strings."""

    RED = "red"


class Level(enum.IntEnum):
    """An enum that is a number."""

    HIGH = 3


@dataclasses.dataclass
class Point:
    """A dataclass."""

    x: int
    y: float = 0.5
    colour: Colour = Colour.RED


class Pair(typing.NamedTuple):
    """A typed named tuple."""

    left: int
    right: str


Legacy = collections.namedtuple("Legacy", "a b")


def echo(value=None):
    """Return the argument."""
    return value


def echo_all(*args, **kwargs) -> dict:
    """Return all arguments by kind."""
    return {"args": list(args), "kwargs": kwargs}


def nothing():
    """None."""


def dataclass() -> Point:
    """A dataclass with an enum inside."""
    return Point(1)


def enums() -> list:
    """Enums: their value."""
    return [Colour.RED, Level.HIGH]


def times() -> dict:
    """Date, time, datetime with and without zone."""
    return {
        "date": datetime.date(2024, 2, 29),
        "time": datetime.time(23, 59, 58),
        "naive": datetime.datetime(2024, 2, 29, 12, 0, 0, 250000),
        "utc": datetime.datetime(2024, 2, 29, 12, tzinfo=datetime.timezone.utc),
    }


def texts() -> dict:
    """Decimal, UUID and Path: text."""
    return {
        "decimal": decimal.Decimal("1.10"),
        "uuid": uuid.UUID(int=1),
        "path": pathlib.PurePosixPath("a/b"),
    }


def fraction():
    """A Fraction."""
    return fractions.Fraction(1, 3)


def tuples() -> list:
    """A tuple, a typed named tuple and an untyped one."""
    return [(1, "a"), Pair(1, "r"), Legacy(1, 2)]


def collection() -> dict:
    """The containers of module collections."""
    return {
        "ordered": collections.OrderedDict([("b", 1), ("a", 2)]),
        "default": collections.defaultdict(list, x=[1]),
        "counter": collections.Counter("aab"),
    }


def big_int(digits: int = 100) -> int:
    """An integer of this many digits."""
    return 10 ** (digits - 1)


def numbers() -> list:
    """Numbers at the limits of other JSON parsers."""
    return [2**53, 2**53 + 1, -0.0, 1e308, 5e-324, 0.1, True]


def lone_surrogate() -> str:
    """Half of a surrogate pair."""
    return "a\ud800b"


def unicode() -> str:
    """Characters of one to four bytes, a line separator and a null."""
    return "aé€😀\u2028\u0000\x7f"


def text(size: int = 1 << 20) -> str:
    """This many characters, by default one megabyte."""
    return "x" * size


def raw(size: int = 16) -> bytes:
    """This many bytes."""
    return bytes(i & 255 for i in range(size))


def length(value: str) -> int:
    """The length of the text."""
    return len(value)


def kind(value) -> str:
    """The Python type of the argument."""
    return type(value).__name__
