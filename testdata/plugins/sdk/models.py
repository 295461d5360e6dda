"""Functions over data of numpy, pydantic, attrs and msgspec."""

import attrs
import msgspec
import numpy
import pydantic


class Box(pydantic.BaseModel):
    width: int
    height: int = 1


@attrs.define
class Point:
    x: int
    y: int


class Event(msgspec.Struct):
    name: str
    at: float = 0.0


def area(box: Box) -> int:
    return box.width * box.height


def double(box: Box) -> Box:
    return Box(width=2 * box.width, height=box.height)


def move(x: int, y: int):
    return Point(x + 1, y + 1)


def event(name: str):
    return Event(name, 1.5)


def read(text: bytes):
    return msgspec.json.decode(text, type=Event)


def mean(values: list[float]):
    array = numpy.array(values)
    return {"mean": array.mean(), "largest": array.max(), "all": array, "count": numpy.int64(len(values))}
