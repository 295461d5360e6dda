"""Hooks with annotations of every kind."""
import dataclasses
import datetime
import decimal
import enum
import pathlib
import typing
import uuid

import pydantic


class Level(enum.Enum):
    LOW = "low"
    HIGH = "high"


class Rank(enum.IntEnum):
    FIRST = 1
    SECOND = 2


@dataclasses.dataclass
class Item:
    name: str
    due: datetime.date
    level: Level = Level.LOW
    parts: typing.List["Item"] = dataclasses.field(default_factory=list)


class Pair(typing.NamedTuple):
    first: str
    second: float = 1.5


class Open(typing.TypedDict, total=False):
    a: int
    b: typing.Optional[str]


class Account(pydantic.BaseModel):
    id: int = pydantic.Field(gt=0)
    owner: str = pydantic.Field(min_length=1, max_length=20)
    tags: typing.List[str] = []
    level: Level = Level.LOW
    parent: typing.Optional["Account"] = None


def item(item: Item) -> dict:
    """Return the parts of an item.

    It may have items in it.
    """
    return dataclasses.asdict(item)


def level(level: Level, rank: Rank = Rank.FIRST, mode: typing.Literal["r", "w", 3] = "r") -> str:
    return "%s %d %s" % (level.value, rank, mode)


def union(value: typing.Union[int, str, Item, None], other: typing.Union[datetime.date, typing.List[int]] = None):
    return repr(value)


def dates(day: datetime.date, at: datetime.datetime = None, clock: datetime.time = None, span: datetime.timedelta = datetime.timedelta(1)) -> list:
    return [day, at, clock, span]


def numbers(whole: int, part: float = 0.5, exact: decimal.Decimal = decimal.Decimal("1.1"), flag: bool = False) -> dict:
    return {"whole": whole, "part": part, "exact": str(exact), "flag": flag}


def account(account: Account) -> Account:
    return account


def total(*numbers: float) -> float:
    return sum(numbers)


def options(first, *rest: int, flag: bool = False, **named: str):
    return [first, rest, flag, named]


def size(data: bytes) -> int:
    return len(data)


def double(data: bytes) -> bytes:
    return data * 2


def count(n: int) -> typing.Iterator[int]:
    for i in range(min(n, 10)):
        yield i


async def later(words: typing.Sequence[str] = ()) -> typing.List[str]:
    return [w.upper() for w in words]


def nested(table: typing.Dict[str, typing.List[typing.Tuple[int, str]]], pair: Pair = Pair("a"), open: Open = {}, *, key: uuid.UUID = None, path: pathlib.Path = pathlib.Path("x"), unique: typing.Set[int] = frozenset()) -> list:
    return [table, pair, open, key, str(path), sorted(unique)]


def keyed(table: typing.Dict[int, Level]) -> dict:
    return {str(k): v.value for k, v in table.items()}


def divide(a: float, b: float = 1.0) -> float:
    return a / b


def untyped(a, b=2, c=None):
    return [a, b, c]


def nothing() -> None:
    pass


def position(a: int, b: int = 2, /) -> int:
    return a + b
