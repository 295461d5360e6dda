"""Tests how arguments are assigned to parameters and converted to their types."""

import json
import sys
import unittest
from unicodedata import normalize

from client import Case

PLUGIN = '''
import collections, dataclasses, datetime, decimal, enum, pathlib, uuid
from collections import abc
from datetime import date, datetime as moment, time, timedelta
from typing import *

class Env(enum.Enum):
    PROD = "prod"
    STAGE = "staging"
    LIVE = "prod"
class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2
class Mixed(enum.Enum):
    NUMBER = 1
    TEXT = "1"
    PAIR = (1, 2)
class Sizes(enum.Enum):
    SMALL = "s"
    @classmethod
    def _missing_(cls, value):
        if value == "bad": raise RuntimeError("no")
        return cls.SMALL if value == "tiny" else None
class Mode(enum.Flag):
    R = 1
    W = 2
class Modes(enum.Flag):
    R = 1
    W = 2
    def __repr__(self): return str(self.value)

@dataclasses.dataclass
class Point:
    x: int
    y: float = 0.5
@dataclasses.dataclass
class Node:
    value: "date"
    next: Optional["Node"] = None
    children: List["Node"] = dataclasses.field(default_factory=list)
@dataclasses.dataclass
class Strict:
    x: int
    seen: bool = dataclasses.field(default=False, init=False)
    scale: "dataclasses.InitVar[int]" = 1
    kind: ClassVar[str] = "strict"
    def __post_init__(self, scale):
        if self.x < 0: raise ValueError("x must not be negative")
        self.x *= scale
@dataclasses.dataclass(init=False)
class Own:
    x: int
    def __init__(self, x): self.x = x + 1
T = TypeVar("T")
@dataclasses.dataclass
class Box(Generic[T]):
    item: T
@dataclasses.dataclass
class Circle:
    radius: float
@dataclasses.dataclass
class Square:
    side: float
class Pair(NamedTuple):
    first: int
    second: date = date(2000, 1, 1)
Loose = collections.namedtuple("Loose", "a b")
class Movie(TypedDict):
    title: str
    released: date
class Partial(TypedDict, total=False):
    count: int
class Model:
    def __init__(self, value): self.value = value
    @classmethod
    def model_validate(cls, value):
        if value == {"bad": 1}: raise Invalid("2 errors")
        if value == "bad": raise ValueError("bad value")
        return cls(value)
    def __repr__(self): return "Model(%r)" % (self.value,)
class Invalid(Exception):
    def errors(self): return [{"loc": ("items", 3, "x"), "msg": "Input should be an integer", "input": "a", "type": "int"},
                              {"loc": ("name",), "msg": "Field required", "input": {}, "type": "missing"}]
class Unknown: pass
UserId = NewType("UserId", int)
def later(): raise AssertionError("called")

TYPES = {
    "int": int, "float": float, "bool": bool, "str": str, "bytes": bytes, "bytearray": bytearray, "none": None, "any": Any, "object": object,
    "env": Env, "level": Level, "mixed": Mixed, "sizes": Sizes, "mode": Mode, "modes": Modes, "literal": Literal["a", 1, "2", True, None], "literal_env": Literal[Env.PROD],
    "date": date, "datetime": moment, "time": time, "timedelta": timedelta, "decimal": decimal.Decimal, "uuid": uuid.UUID,
    "path": pathlib.Path, "pure": pathlib.PurePosixPath, "optional": Optional[int], "optional_text": Optional[str], "int_str": Union[str, int], "date_int": Union[date, int],
    "shape": Union[Circle, Square], "shape_or_none": Optional[Circle], "date_str": Union[date, str], "float_int": Union[float, int], "unknown_date": Union[Unknown, date],
    "dates_or_ints": Union[List[date], List[int]], "path_bool": Union[pathlib.Path, bool, None],
    "ints": List[int], "floats": List[float], "lists": List[List[date]], "list": list, "bare": List, "pair": Tuple[int, date], "row": Tuple[int, ...],
    "set": Set[date], "frozen": FrozenSet[int], "dict": Dict[str, int], "int_keys": Dict[int, date], "env_keys": Dict[Env, Any], "list_keys": Dict[Any, list],
    "sequence": Sequence[int], "iterable": abc.Iterable, "mapping": Mapping[str, date], "abstract": AbstractSet[int],
    "deque": Deque[int], "ordered": "collections.OrderedDict[str, date]",
    "point": Point, "points": List[Point], "node": Node, "strict": Strict, "own": Own, "box": Box[int], "named": Pair, "loose": Loose, "movie": Movie, "partial": Partial,
    "model": Model, "models": List[Model], "new": UserId, "unknown": Unknown, "callable": Callable[[int], str], "type": Type[int], "text": "List['date']",
    "annotated": Annotated[int, {}], "auto": Union[Literal["auto"], int], "forward": List["Later"], "missing": "Nowhere", "raises": "later()", "missing_inside": List["Nowhere"],
    "decimals": Dict[str, Union[decimal.Decimal, float, Any]], "piped": "int | None", "piped_list": "list[int] | date",
}
class Later(enum.Enum): A = "a"
count = 0
def hook(note):
    def take(value):
        global count
        count += 1
        return repr(value)
    take.__annotations__["value"] = note
    return take
for one, note in TYPES.items():
    globals()["take_" + one] = hook(note)
__all__ = ["take_" + one for one in TYPES] + ["called", "plain", "defaults", "everything", "positions", "stringy", "exactly", "digits", "Tool", "tool", "cached", "instance", "partial", "wrapped", "awaited", "items"]

def called(): return count
def plain(a: int, b: "str" = "x", *, c: float = 1.5, d: bool = False, e=None): return [a, b, c, d, e]
def defaults(number=1, flag=True, when=date(2000, 1, 1), level=Level.LOW, names=(), some=frozenset(), nothing=None, odd=later): return repr([number, flag, when, level, names, some, nothing, odd is later or odd])
def everything(a, /, b: date, *rest: int, c: Env = Env.PROD, **more: pathlib.PurePosixPath): return repr((a, b, rest, c, more))
def positions(a: int, /, b: int = 2, **more): return [a, b, more]
def stringy(a: "int", b: "Optional[date]" = None, c: "Nowhere" = 1): return repr((a, b, c))
def digits(price: decimal.Decimal, other=None, rate: float = 1.0): return repr((price, type(other), other, type(rate), rate))
class Tool:
    def scale(self, by: int, when: date = None): return repr((by, when))
tool = Tool()
import functools
def decorate(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs): return function(*args, **kwargs)
    return wrapper
@functools.lru_cache()
def cached(when: "date"): return repr(when)
class Callable_:
    def __call__(self, when: "date"): return repr(when)
instance = Callable_()
partial = functools.partial(cached.__wrapped__)
@decorate
def wrapped(when: date): return repr(when)
async def awaited(when: date): return repr(when)
def items(when: date): yield repr(when)
def exactly(value: Literal["a"]) -> str: return value
'''


def word(text, name=None, verbatim=False):
    """Returns a word as pyplug sends it."""
    found = {"text": text}
    if name:
        found["name"] = name
    try:
        value = json.loads(text)
        if not isinstance(value, (int, float)) or json.dumps(value) == text:
            found["value"] = value
    except ValueError:
        pass
    if verbatim:
        found["form"] = "text"
    return found


class Arguments(Case):
    PLUGIN = PLUGIN

    def words(self, hook, *words):
        return self.worker.ask("C", {"hook": hook, "words": [one if isinstance(one, dict) else word(one) for one in words]})

    def check(self, take, cases):
        """Checks cases of the form (type, argument, value in the hook) or (type, argument, None, error message)."""
        for name, value, got, *refused in cases:
            with self.subTest(name, value=value):
                answer = take("take_" + name, value)
                if refused:
                    self.assertEqual(self.refused(answer, "arguments")["message"], refused[0])
                else:
                    self.ok(answer, got)

    def test_json(self):
        self.check(self.worker.call, JSON)

    def test_words(self):
        self.check(self.words, WORDS)

    def test_nothing_is_called(self):
        before = self.worker.call("called")
        for name in ("env", "ints", "point", "literal"):
            self.refused(self.worker.call("take_" + name, [[]]), "arguments")
            self.refused(self.worker.call("take_" + name), "arguments")
        self.ok(self.worker.call("called"), before[1])

    def test_binding(self):
        self.ok(self.worker.call("plain", 1, "y", c=2, d=True), [1, "y", 2.0, True, None])
        self.ok(self.worker.call("plain", b="y", a=1), [1, "y", 1.5, False, None])
        self.ok(self.words("plain", "7", word("2", "b"), word("yes", "d"), word("[1]", "e")), [7, "2", 1.5, True, [1]])
        got = "[1, True, datetime.date(2000, 1, 1), <Level.HIGH: 2>, (1,), frozenset({2}), 'x', 'y']"
        self.ok(self.words("defaults", *["1", "on", "2000-01-01", "2", "[1]", "[2]", "x", "y"]), got)
        self.ok(self.worker.call("defaults", 1, True, "2000-01-01", 2, [1], [2], "x", "y"), got)
        got = "('x', datetime.date(2024, 1, 1), (1, 2), <Env.STAGE: 'staging'>, {'a': PurePosixPath('/a'), 'q': PurePosixPath('b')})"
        self.ok(self.words("everything", "x", "2024-01-01", "1", "2", word("staging", "c"), word("/a", "a"), word("b", "q")), got)
        self.ok(self.worker.call("everything", "x", "2024-01-01", 1, 2, c="staging", a="/a", q="b"), got)
        self.ok(self.worker.call("everything", a="x", b="2024-01-01", rest=[1, 2], c="staging", q="b"), got.replace("'a': PurePosixPath('/a'), ", ""))
        for hook, args, names, message, place in (
            ("plain", (), {}, "a is missing, expected", "a"),
            ("plain", (1, 2), {}, "b is 2, expected str", "b"),
            ("plain", (1,), {"c": "x"}, 'c is "x", expected float', "c"),
            ("plain", (1, "x", 2), {}, "unexpected value 2, expected at most 2 by position:", ""),
            ("plain", (1,), {"a": 1}, "a is given twice: 1 and 1", "a"),
            ("plain", (1,), {"f": 1}, 'no parameter "f", expected', "f"),
            ("defaults", ("1",), {}, 'number is "1", expected int', "number"),
            ("everything", (), {"c": "prod"}, "a and b are missing, expected", "a"),
            ("everything", (), {"a": "x", "rest": [1]}, "b is missing, expected", "b"),
            ("everything", (1, "2024-01-01", 1, "x"), {}, '$.rest[1] is "x", expected int', "$.rest[1]"),
            ("everything", (1, "2024-01-01"), {"q": 1}, "q is 1, expected a path", "q"),
            ("positions", (), {"b": 1}, "a is missing, expected", "a"),
            ("positions", (True,), {}, "a is true, expected int", "a"),
            ("awaited", (1,), {}, "when is 1, expected a date such as 2024-12-31", "when"),
            ("items", (1,), {}, "when is 1, expected a date such as 2024-12-31", "when"),
            ("wrapped", (), {}, "when is missing, expected", "when"),
            ("cached", ("x",), {}, 'when is "x", expected a date such as 2024-12-31', "when"),
            ("instance", ("x",), {}, 'when is "x", expected a date such as 2024-12-31', "when"),
            ("partial", ("x",), {}, 'when is "x", expected a date such as 2024-12-31', "when"),
            ("wrapped", ("x",), {}, 'when is "x", expected a date such as 2024-12-31', "when"),
            ("Tool.scale", (), {}, "by is missing, expected", "by"),
            ("tool.scale", ("x",), {}, 'by is "x", expected int', "by"),
        ):
            with self.subTest(hook, args=args, names=names):
                refusal = self.refused(self.worker.call(hook, *args, **names), "arguments")
                self.assertEqual((refusal["message"], refusal["place"]), (message, place))
                self.assertTrue(refusal["signature"]["params"])

    def test_words_that_do_not_fit(self):
        for hook, words, message, more in (
            ("plain", ["1", word("2", "a")], 'a is given twice: "1" and "a=2"', {}),
            ("plain", [word("2", "a"), "1"], 'a is given twice: "a=2" and "1"', {}),
            ("plain", [word("1", "z"), word("2", "z")], 'no parameter "z", expected', {"unknown": "z", "typed": "z=1", "choices": list("abcde")}),
            ("plain", ["1", "2", "3"], 'unexpected value "3", expected at most 2 by position:', {"other": "c"}),
            ("positions", ["1", word("1", "z"), word("2", "z")], 'z is given twice: "z=1" and "z=2"', {}),
            ("plain", [word("1", "a.b")], 'no parameter "a.b", expected', {"unknown": "a.b"}),
            ("called", ["x"], 'unexpected value "x", expected none by position:', {"ends": True}),
            ("take_env", ["prd"], 'value is "prd", expected one of prod, staging', {"near": "prd", "choices": ["prod", "staging"]}),
        ):
            with self.subTest(hook, words=words):
                refusal = self.refused(self.words(hook, *words), "arguments")
                self.assertEqual(refusal["message"], message)
                self.assertEqual({key: refusal.get(key) for key in more}, more)
        self.ok(self.words("positions", "1", word("5", "a")), [1, 2, {"a": 5}])

    def test_names_that_python_normalizes(self):
        """Names are normalized as Python's parser does, except the names for **kwargs."""
        worker = self.start("""
            def größe(weiß, /, *rest, höhe=1): return [weiß, rest, höhe]
            def names(**ö): return ö
            class Maß:
                def größe(self, höhe: float): return höhe
        """)
        for form in ("NFC", "NFD"):
            hook, height, white, method = (normalize(form, text) for text in ("größe", "höhe", "weiß", "Maß.größe"))
            self.ok(worker.call(hook, **{white: 1, height: 2}), [1, [], 2])
            self.ok(worker.call(hook, 1), [1, [], 1])
            self.ok(worker.ask("C", {"hook": hook, "words": [word("1"), word("2", height)]}), [1, [], 2])
            self.ok(worker.ask("C", {"hook": method, "words": [{"form": "option", "name": height, "typed": "--" + height}, word("2")]}), 2.0)
            self.ok(worker.call("names", **{height: 2}), {height: 2})
            self.assertEqual(worker.ask("D", {"hook": hook, "input": False})[0], "R")
        twice = worker.call("größe", 1, **{"höhe": 2, normalize("NFD", "höhe"): 3})
        self.assertIn("is given twice", self.refused(twice, "arguments")["message"])
        self.refused(worker.call("größf"), "hook")

    def test_lists_of_words(self):
        many = [word(text, "value") for text in ("1", "2")]
        for name, got in (
            ("ints", "[1, 2]"), ("bare", "[1, 2]"), ("row", "(1, 2)"), ("frozen", "frozenset({1, 2})"), ("deque", "deque([1, 2])"),
            ("sequence", "[1, 2]"), ("dates_or_ints", None), ("int", None), ("any", None), ("dict", None), ("pair", None),
        ):
            with self.subTest(name):
                answer = self.words("take_" + name, *many)
                self.ok(answer, got) if got else self.refused(answer, "arguments")
        self.ok(self.words("take_ints", word("1", "value")), "[1]")
        self.ok(self.words("take_ints", word("[1, 2]", "value")), "[1, 2]")
        self.ok(self.words("take_lists", word("[]", "value"), word('["2024-01-01"]', "value")), "[[], [datetime.date(2024, 1, 1)]]")
        self.ok(self.words("take_points", word('{"x": 1}', "value")), "[Point(x=1, y=0.5)]")
        self.assertEqual(self.refused(self.words("take_ints", many[0], word("x", "value")), "arguments")["place"], "$.value[1]")
        for name, text, hint in (("ints", "1", "value:=[1]"), ("point", "1", 'value:={"x":1}'), ("movie", "x", 'value:={"title":"text","released":"2026-01-31"}')):
            self.assertEqual(self.refused(self.words("take_" + name, text), "arguments")["as_json"], hint)
        refusal = self.refused(self.words("take_point", word("1", "x")), "arguments")
        self.assertEqual((refusal["instead"], "as_json" in refusal, "typed" in refusal), (["--value.x", "1"], False, False))

    def test_json_before_words(self):
        request = {"hook": "plain", "words": [word("9", "a"), word("x", "b")], "kwargs": {"a": 1}}
        self.ok(self.worker.ask("C", request), [1, "x", 1.5, False, None])
        self.ok(self.worker.ask("C", {"hook": "plain", "words": [word("x", "b")], "args": [1]}), [1, "x", 1.5, False, None])
        self.refused(self.worker.ask("C", {"hook": "plain", "words": [word("9", "a")], "args": [1]}), "arguments")

    def test_verbatim(self):
        for name, text, got in (
            ("optional_text", "null", "'null'"),
            ("int_str", "5", "'5'"),
            ("any", "[1]", "'[1]'"),
            ("int", "5", "5"),
            ("date", "2024-01-01", "datetime.date(2024, 1, 1)"),
            ("bytes", "null", "b'null'"),
            ("ints", "[1]", "[1]"),
            ("missing", "5", "'5'"),
        ):
            self.ok(self.words("take_" + name, word(text, verbatim=True)), got)
        self.refused(self.words("take_optional", word("null", verbatim=True)), "arguments")
        for name, text, got in (("str", "x", "'x'"), ("any", "x", "'x'"), ("int", "007", "7"), ("date", "2024-01-01", "datetime.date(2024, 1, 1)")):
            self.ok(self.worker.ask("C", {"hook": "take_" + name, "words": [text]}), got)
        self.ok(self.worker.ask("C", {"hook": "plain", "words": ["007", {"name": "b", "text": "y"}]}), [7, "y", 1.5, False, None])
        refusal = self.refused(self.worker.ask("C", {"hook": "plain", "words": ["1", "2", "3"]}), "arguments")
        self.assertEqual(refusal["message"], 'unexpected value "3", expected at most 2 by position:')
        self.ok(self.words("take_ints", {"json": [1]}), "[1]")

    def test_decimal_literals(self):
        body = b'{"hook": "digits", "args": [1.10, {"x": [1.50, 1e400]}, 2.0]}'
        self.ok(self.worker.ask("C", body), "(Decimal('1.10'), <class 'dict'>, {'x': [1.5, inf]}, <class 'float'>, 2.0)")
        self.ok(self.worker.ask("C", b'{"hook": "take_decimal", "args": [1e400]}'), "Decimal('1E+400')")
        self.ok(self.worker.ask("C", b'{"hook": "take_decimals", "args": [{"a": 0.10, "b": [1.0]}]}'), "{'a': 0.1, 'b': [1.0]}")

    def test_string_annotations(self):
        self.ok(self.worker.call("stringy", 1, None, "x"), "(1, None, 'x')")
        self.ok(self.worker.call("stringy", 1, "2024-01-01"), "(1, datetime.date(2024, 1, 1), 1)")
        self.assertEqual(self.refused(self.worker.call("stringy", "a"), "arguments")["message"], 'a is "a", expected int')
        params = {one["name"]: one for one in self.worker.ask("D", {"hook": "stringy", "input": False})[1]["hooks"][0]["params"]}
        self.assertEqual(params["c"]["unresolved"], "its annotation raises NameError: name 'Nowhere' is not defined")
        self.assertNotIn("unresolved", params["b"])

    def test_nested_deeply(self):
        value = {"value": "2024-01-01"}
        for _ in range(900):
            value = {"value": "2024-01-01", "next": value}
        self.assertEqual(self.refused(self.worker.call("take_node", value), "arguments")["message"], "nested too deeply")
        self.ok(self.worker.call("take_int", 1), "1")

    def test_switched_off(self):
        worker = self.start(PLUGIN, convert="off")
        self.ok(worker.call("take_env", "dev"), "'dev'")
        self.ok(worker.call("plain", "a", 1), ["a", 1, 1.5, False, None])
        self.ok(worker.ask("C", {"hook": "take_date", "words": [word("5")]}), "5")
        self.assertEqual(self.refused(worker.call("plain"), "arguments")["message"], "a is missing, expected")
        self.assertEqual(self.refused(worker.call("wrapped"), "raised")["python"]["type"], "TypeError")

    def test_in_threads(self):
        worker = self.start(PLUGIN, calls="threads")
        for hook in ("take_date", "awaited", "wrapped"):
            self.ok(worker.call(hook, "2024-01-01"), "datetime.date(2024, 1, 1)")
            self.refused(worker.call(hook, 1), "arguments")
        self.refused(worker.call("plain", 1, 2), "arguments")
        self.ok(worker.call("plain", 1, "2"), [1, "2", 1.5, False, None])

    def test_interrupted(self):
        worker = self.start("""
            import dataclasses, os, time
            @dataclasses.dataclass
            class Slow:
                x: int
                def __post_init__(self):
                    os.write(int(os.environ["MARKER"]), b"!")
                    time.sleep(600)
            def take(slow: Slow): return "called"
        """)
        number = worker.begin("take", {"x": 1})
        worker.wait_mark()
        self.refused(worker.interrupted(number), "canceled")
        self.refused(worker.call("take", 1), "arguments")


JSON = [
    ("int", 2, "2"), ("int", 2.0, "2"), ("int", 10**30, str(10**30)), ("int", 2.5, None, "value is 2.5, expected int"), ("int", True, None, "value is true, expected int"),
    ("int", "x", None, 'value is "x", expected int'), ("int", None, None, "value is null, expected int"),
    ("float", 2, "2.0"), ("float", 1.5, "1.5"), ("float", True, None, "value is true, expected float"), ("float", "1", None, 'value is "1", expected float'),
    ("float", 10**400, None, "value is %s…, expected float: int too large to convert to float" % ("1" + "0" * 79)),
    ("bool", False, "False"), ("bool", 1, None, "value is 1, expected bool"), ("bool", "true", None, 'value is "true", expected bool'),
    ("str", "\ud800", "'\\ud800'"), ("str", 1, None, "value is 1, expected str"), ("str", ["a"], None, 'value is ["a"], expected str'),
    ("bytes", "/w==", "b'\\xff'"), ("bytes", "", "b''"), ("bytes", "/w", None, 'value is "/w", expected bytes as base64 text'), ("bytes", "é", None, 'value is "é", expected bytes as base64 text'),
    ("bytearray", "YQ==", "bytearray(b'a')"), ("bytes", 1, None, "value is 1, expected bytes as base64 text"),
    ("none", None, "None"), ("none", 0, None, "value is 0, expected None"), ("any", {"a": 1.5}, "{'a': 1.5}"), ("object", [1], "[1]"),
    ("env", "prod", "<Env.PROD: 'prod'>"), ("env", "LIVE", "<Env.PROD: 'prod'>"), ("env", "STAGE", "<Env.STAGE: 'staging'>"), ("env", "dev", None, 'value is "dev", expected one of prod, staging'),
    ("env", 1, None, "value is 1, expected one of prod, staging"), ("env", {}, None, "value is {}, expected one of prod, staging"),
    ("level", 2, "<Level.HIGH: 2>"), ("level", 2.0, "<Level.HIGH: 2>"), ("level", True, None, "value is true, expected one of 1, 2"), ("level", "LOW", "<Level.LOW: 1>"), ("level", "1", None, 'value is "1", expected one of 1, 2'),
    ("mixed", 1, "<Mixed.NUMBER: 1>"), ("mixed", "1", "<Mixed.TEXT: '1'>"), ("mixed", "PAIR", "<Mixed.PAIR: (1, 2)>"), ("mixed", 3, None, "value is 3, expected one of 1, PAIR"),
    ("sizes", "tiny", "<Sizes.SMALL: 's'>"), ("sizes", "bad", None, 'value is "bad", expected one of s'),
    ("literal", "a", "'a'"), ("literal", 1, "1"), ("literal", True, "True"), ("literal", None, "None"), ("literal", 2, None, "value is 2, expected one of a, 1, 2, true, null"), ("literal_env", "prod", "<Env.PROD: 'prod'>"),
    ("date", "2024-02-29", "datetime.date(2024, 2, 29)"), ("date", "2024-13-45", None, 'value is "2024-13-45", expected a date such as 2024-12-31: month must be in 1..12'),
    ("date", "20240229", None, 'value is "20240229", expected a date such as 2024-12-31'), ("date", 1700000000, None, "value is 1700000000, expected a date such as 2024-12-31"),
    ("date", "2024-02-29T00:00:00", None, 'value is "2024-02-29T00:00:00", expected a date such as 2024-12-31'),
    ("datetime", "2024-02-29T01:02:03.5Z", "datetime.datetime(2024, 2, 29, 1, 2, 3, 500000, tzinfo=datetime.timezone.utc)"),
    ("datetime", "2024-02-29 01:02+0230", "datetime.datetime(2024, 2, 29, 1, 2, tzinfo=datetime.timezone(datetime.timedelta(seconds=9000)))"),
    ("datetime", "2024-02-29", "datetime.datetime(2024, 2, 29, 0, 0)"), ("datetime", "now", None, 'value is "now", expected a date and time such as 2024-12-31T12:30:00'),
    ("time", "01:02", "datetime.time(1, 2)"), ("time", "25:00", None, 'value is "25:00", expected a time such as 12:30:00: hour must be in 0..23'), ("time", "1", None, 'value is "1", expected a time such as 12:30:00'),
    ("timedelta", "P1DT2H", "datetime.timedelta(days=1, seconds=7200)"), ("timedelta", "-PT0.5S", "datetime.timedelta(days=-1, seconds=86399, microseconds=500000)"), ("timedelta", 1.5, "datetime.timedelta(seconds=1, microseconds=500000)"),
    ("timedelta", "P2W", "datetime.timedelta(days=14)"), ("timedelta", "P1Y", None, 'value is "P1Y", expected a duration such as 1h30m or PT1H30M, or seconds'), ("timedelta", "P", None, 'value is "P", expected a duration such as 1h30m or PT1H30M, or seconds'),
    ("decimal", 1, "Decimal('1')"), ("decimal", 1.5, "Decimal('1.5')"), ("decimal", "1.10", "Decimal('1.10')"), ("decimal", "NaN", None, 'value is "NaN", expected a decimal number'), ("decimal", "x", None, 'value is "x", expected a decimal number'),
    ("decimal", True, None, "value is true, expected a decimal number"),
    ("uuid", "00000000-0000-0000-0000-000000000001", "UUID('00000000-0000-0000-0000-000000000001')"), ("uuid", "1", None, 'value is "1", expected a UUID: badly formed hexadecimal UUID string'),
    ("path", "/a", "PosixPath('/a')"), ("pure", "a", "PurePosixPath('a')"), ("path", 1, None, "value is 1, expected a path"),
    ("optional", None, "None"), ("optional", "x", None, 'value is "x", expected int'), ("int_str", "5", "'5'"), ("int_str", 5, "5"), ("int_str", [], None, "value is [], expected str or int"),
    ("date_int", 5, "5"), ("date_int", "2024-01-01", "datetime.date(2024, 1, 1)"), ("date_str", "2024-01-01", "'2024-01-01'"), ("float_int", 2, "2"), ("unknown_date", "2024-01-01", "datetime.date(2024, 1, 1)"), ("unknown_date", 1, "1"),
    ("shape", {"side": 2}, "Square(side=2.0)"), ("shape", {"side": "a"}, None, 'value is {"side":"a"}, expected Circle or Square'), ("shape_or_none", {"radius": "a"}, None, '$.value.radius is "a", expected float'),
    ("dates_or_ints", [1], "[1]"), ("dates_or_ints", ["2024-01-01"], "[datetime.date(2024, 1, 1)]"),
    ("ints", [1, 2.0], "[1, 2]"), ("ints", ["a"], None, '$.value[0] is "a", expected int'), ("ints", 1, None, "value is 1, expected List[int]"), ("ints", "12", None, 'value is "12", expected List[int]'), ("ints", [1, True], None, "$.value[1] is true, expected int"),
    ("floats", [1, 2.5], "[1.0, 2.5]"), ("lists", [[], ["2024-01-01", 1]], None, "$.value[1][1] is 1, expected a date such as 2024-12-31"), ("list", [1, "a"], "[1, 'a']"), ("bare", [1], "[1]"), ("list", {}, None, "value is {}, expected list"),
    ("pair", [1, "2024-01-01"], "(1, datetime.date(2024, 1, 1))"), ("pair", [1], None, "value is [1], expected Tuple[int, datetime.date]"), ("row", [1, 2], "(1, 2)"), ("row", [], "()"),
    ("set", ["2024-01-01", "2024-01-01"], "{datetime.date(2024, 1, 1)}"), ("frozen", [1], "frozenset({1})"), ("abstract", [1], "{1}"),
    ("dict", {"a": 1}, "{'a': 1}"), ("dict", {"a b": "x"}, None, '$.value["a b"] is "x", expected int'), ("dict", [], None, "value is [], expected Dict[str, int]"),
    ("int_keys", {"1": "2024-01-01"}, "{1: datetime.date(2024, 1, 1)}"), ("int_keys", {"x": "2024-01-01"}, None, '$.value.x is "x", expected int'),
    ("int_keys", {"1": "2024-01-01", "01": "2024-01-01"}, None, '$.value["01"] is "01", expected another key: it is the same as the key "1"'),
    ("env_keys", {"prod": [1]}, "{<Env.PROD: 'prod'>: [1]}"), ("list_keys", {"[1]": []}, "{'[1]': []}"),
    ("sequence", [1], "[1]"), ("sequence", "ab", None, 'value is "ab", expected Sequence[int]'), ("iterable", ["a"], "['a']"), ("mapping", {"a": "2024-01-01"}, "{'a': datetime.date(2024, 1, 1)}"), ("deque", [1.0], "deque([1])"),
    ("point", {"x": 1}, "Point(x=1, y=0.5)"), ("point", {"x": 1.0, "y": 2}, "Point(x=1, y=2.0)"), ("point", {"y": 2}, None, "$.value.x is missing, expected int"), ("point", {"x": 1, "z": 2}, None, "$.value.z is unknown, expected one of x, y"),
    ("point", [1, 2], None, "value is [1,2], expected Point"), ("points", [{"x": 1}, {"x": "a"}], None, '$.value[1].x is "a", expected int'),
    ("node", {"value": "2024-01-01", "next": {"value": "2024-01-02"}}, "Node(value=datetime.date(2024, 1, 1), next=Node(value=datetime.date(2024, 1, 2), next=None, children=[]), children=[])"),
    ("node", {"value": "2024-01-01", "children": [{"value": 1}]}, None, "$.value.children[0].value is 1, expected a date such as 2024-12-31"),
    ("strict", {"x": 2, "scale": 3}, "Strict(x=6, seen=False)"), ("strict", {"x": 2, "scale": "3"}, None, '$.value.scale is "3", expected int'), ("strict", {"x": -1}, None, 'value is {"x":-1}, expected Strict: ValueError: x must not be negative'), ("strict", {"x": 1, "seen": True}, None, "$.value.seen is unknown, expected one of x, scale"),
    ("own", {"x": 1}, "Own(x=2)"), ("box", {"item": 1}, "Box(item=1)"),
    ("named", [1], "Pair(first=1, second=datetime.date(2000, 1, 1))"), ("named", {"first": 1, "second": "2024-01-01"}, "Pair(first=1, second=datetime.date(2024, 1, 1))"), ("named", [], None, "$.value.first is missing, expected int"),
    ("named", [1, "2024-01-01", 3], None, 'value is [1,"2024-01-01",3], expected Pair'), ("named", ["a"], None, '$.value.first is "a", expected int'), ("loose", ["a", 1], "Loose(a='a', b=1)"),
    ("movie", {"title": "M", "released": "2024-01-01", "more": 1}, "{'title': 'M', 'released': datetime.date(2024, 1, 1), 'more': 1}"), ("movie", {"title": "M"}, None, "$.value.released is missing, expected a date such as 2024-12-31"),
    ("partial", {}, "{}"), ("partial", {"count": "a"}, None, '$.value.count is "a", expected int'),
    ("model", [1], "Model([1])"), ("model", {"bad": 1}, None, '$.value.items[3].x is "a": Input should be an integer; $.value.name: Field required'), ("model", "bad", None, 'value is "bad", expected Model: ValueError: bad value'),
    ("models", [1, {"bad": 1}], None, '$.value[1].items[3].x is "a": Input should be an integer; $.value[1].name: Field required'),
    ("new", 1, "1"), ("new", "a", None, 'value is "a", expected int'), ("unknown", [1], "[1]"), ("callable", "f", "'f'"), ("type", "int", "'int'"), ("text", ["2024-01-01"], "[datetime.date(2024, 1, 1)]"),
    ("annotated", "a", None, 'value is "a", expected int'), ("auto", "auto", "'auto'"), ("auto", "a", None, 'value is "a", expected auto or int'),
    ("forward", ["a"], "[<Later.A: 'a'>]"), ("missing", {"x": [1]}, "{'x': [1]}"), ("raises", 1, "1"), ("missing_inside", "a", "'a'"),
    ("piped", None, "None"), ("piped", "a", None, 'value is "a", expected int'), ("piped_list", [1], "[1]"), ("piped_list", ["a"], None, '$.value[0] is "a", expected int'), ("mode", 2, "<Mode.W: 2>"),
    ("modes", "R|W", "3"), ("modes", "W | R", "3"), ("modes", "W", "2"), ("modes", 3, "3"), ("modes", "R|2", None, 'value is "R|2", expected one of 1, 2, or names such as R|W'), ("modes", ["R", "W"], None, 'value is ["R","W"], expected one of 1, 2, or names such as R|W'),
]

WORDS = [
    ("int", "2", "2"), ("int", "+007", "7"), ("int", " 5\n", "5"), ("int", "2.0", "2"), ("int", "2.5", None, 'value is "2.5", expected int'), ("int", "", None, 'value is "", expected int'), ("int", "0x1", None, 'value is "0x1", expected int'),
    ("int", "٣", None, 'value is "٣", expected int'), ("int", "1_0", None, 'value is "1_0", expected int'), ("int", "9" * 400, "9" * 400), ("int", "true", None, 'value is "true", expected int'), ("int", "-", None, 'value is "-", expected int'), ("int", ".0", None, 'value is ".0", expected int'),
    ("float", "2", "2.0"), ("float", "-.5", "-0.5"), ("float", "1e3", "1000.0"), ("float", "nan", None, 'value is "nan", expected float'), ("float", "inf", None, 'value is "inf", expected float'), ("float", "1e999", None, 'value is "1e999", expected float: it is too large'), ("float", "1_0", None, 'value is "1_0", expected float'), ("float", "0x1p3", None, 'value is "0x1p3", expected float'),
    ("bool", "YES", "True"), ("bool", "on", "True"), ("bool", "Off", "False"), ("bool", "0", "False"), ("bool", "maybe", None, 'value is "maybe", expected bool'), ("str", "2", "'2'"), ("str", "null", "'null'"), ("str", '"q"', "'\"q\"'"),
    ("bytes", "h\udcffi", "b'h\\xffi'"), ("bytes", "null", "b'null'"), ("none", "null", "None"), ("none", "x", None, 'value is "x", expected None'), ("any", "[1, 2]", "[1, 2]"), ("any", "1.10", "'1.10'"), ("object", "5", "5"),
    ("env", "prod", "<Env.PROD: 'prod'>"), ("env", "STAGE", "<Env.STAGE: 'staging'>"), ("env", "dev", None, 'value is "dev", expected one of prod, staging'), ("level", "2", "<Level.HIGH: 2>"), ("mixed", "1", "<Mixed.NUMBER: 1>"), ("sizes", "tiny", "<Sizes.SMALL: 's'>"),
    ("literal", "1", "1"), ("literal", "2", "'2'"), ("literal", "true", "True"), ("literal", "null", "None"), ("literal", "b", None, 'value is "b", expected one of a, 1, 2, true, null'),
    ("date", "2024-02-29", "datetime.date(2024, 2, 29)"), ("timedelta", "90", "datetime.timedelta(seconds=90)"), ("timedelta", "-1.5", "datetime.timedelta(days=-1, seconds=86398, microseconds=500000)"), ("timedelta", "1h", "datetime.timedelta(seconds=3600)"),
    ("timedelta", "1h30m", "datetime.timedelta(seconds=5400)"),
    ("timedelta", "-2d1.5s", "datetime.timedelta(days=-3, seconds=86398, microseconds=500000)"),
    ("timedelta", "30m1h", None, 'value is "30m1h", expected a duration such as 1h30m or PT1H30M, or seconds'),
    ("timedelta", "h", None, 'value is "h", expected a duration such as 1h30m or PT1H30M, or seconds'),
    ("decimal", "1.10", "Decimal('1.10')"), ("decimal", "1_0", None, 'value is "1_0", expected a decimal number'), ("path", "1.10", "PosixPath('1.10')"), ("uuid", "x", None, 'value is "x", expected a UUID: badly formed hexadecimal UUID string'),
    ("optional", "null", "None"), ("optional", "3", "3"), ("optional", "x", None, 'value is "x", expected int'), ("optional_text", "null", "None"), ("int_str", "5", "5"), ("int_str", "x", "'x'"), ("date_str", "2024-01-01", "datetime.date(2024, 1, 1)"), ("path_bool", "yes", "True"), ("path_bool", "a", "PosixPath('a')"), ("path_bool", "null", "None"),
    ("ints", "[1,2]", "[1, 2]"), ("ints", "5", None, "value is 5, expected List[int]"), ("ints", "a", None, 'value is "a", expected List[int]'), ("point", '{"x":1}', "Point(x=1, y=0.5)"), ("point", '{"x":"1"}', None, '$.value.x is "1", expected int'), ("model", "5", "Model(5)"), ("unknown", "5", "5"), ("missing", "x", "'x'"),
    ("modes", "R|W", "3"), ("modes", "3", "3"), ("modes", "R|", None, 'value is "R|", expected one of 1, 2, or names such as R|W'),
]


if __name__ == "__main__":
    unittest.main()
