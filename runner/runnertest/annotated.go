package runnertest

// AnnotatedTypes begins a plugin whose parameters have annotations of many kinds.
const AnnotatedTypes = `
import dataclasses, datetime, decimal, enum, fractions, ipaddress, pathlib, re, typing, uuid
from typing import *
try: from typing import Annotated
except ImportError: from typing_extensions import Annotated
class Env(enum.Enum):
    PROD = "prod"
    DEV = object()
class Level(enum.IntEnum):
    LOW = 1
class Odd(enum.Enum):
    ONE = 1
    @classmethod
    def _missing_(cls, value): return cls.ONE
@dataclasses.dataclass
class Point:
    x: int
    y: float = 1.5
@dataclasses.dataclass
class Node:
    name: str
    next: Optional["Node"] = None
class Pair(NamedTuple):
    first: str
    second: bool = True
class Open(TypedDict, total=False):
    a: int
`
