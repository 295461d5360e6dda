import dataclasses
import datetime
import enum
import os
import pathlib
import time
import typing


class Level(enum.Enum):
    LOW = "low"
    HIGH = "high"


@dataclasses.dataclass
class Item:
    name: str
    due: datetime.date
    level: Level = Level.LOW


def later(items: typing.List[Item], days: int = 1) -> dict:
    """Put items off."""
    print("printed")
    return {i.name: i.due + datetime.timedelta(days) for i in items if i.level is Level.LOW}


def wrong() -> int:
    return {"no": "int"}


def fail():
    raise ValueError("no")


def die():
    os._exit(3)


def nap(marker: str):
    pathlib.Path(marker).touch()
    time.sleep(600)


def count(seen: str):
    for n in range(3):
        yield n
        while not os.path.exists(seen + str(n)):
            time.sleep(0.01)
