"""Tests results that are not plain JSON, and descriptions."""

import sys
import unittest

from client import Case

PLUGIN = """
import base64, collections, dataclasses, sys, datetime, decimal, enum, fractions, ipaddress, pathlib, re, types, uuid, array

class Colour(enum.Enum):
    RED = "red"
class Level(enum.IntEnum):
    HIGH = 3
class Name(str, enum.Enum):
    ADA = "ada"
@dataclasses.dataclass
class Point:
    x: int
    y: object = None
Pair = collections.namedtuple("Pair", "a b")
class Mapping(collections.abc.Mapping):
    def __getitem__(self, key): return {"k": 1}[key]
    def __iter__(self): return iter(["k"])
    def __len__(self): return 1
class Thing: pass
class Raises(Mapping):
    def __getitem__(self, key): raise RuntimeError("not now")
class Evil(list):
    def __iter__(self): raise SystemExit("evil")
Scalar = type("float99", (), {"tolist": lambda self: 1.5, "__module__": "numpy"})
NaT = type("NaTType", (datetime.datetime,), {"isoformat": lambda self: "NaT", "__module__": "pandas._libs.tslibs.nattype"})(1, 1, 1)
Array = type("ndarray", (), {"tolist": lambda self: [1, [2.5]], "__module__": "numpy"})

class Level2(enum.Enum):
    TWO = 2
Integer = type("int64", (), {"tolist": lambda self: 1, "__module__": "numpy"})
class Attrs:
    __attrs_attrs__ = [types.SimpleNamespace(name="a"), types.SimpleNamespace(name="_b")]
    a, _b = 1, {2}
class Model:
    def model_dump(self, mode): return {"dumped": mode}
NA = type("NAType", (), {"__module__": "pandas._libs.missing"})
class Columns:
    is_unique = True
class Rows(collections.abc.Sequence):
    def __getitem__(self, at): return [1, {2}][at]
    def __len__(self): return 2
class Row:
    def __init__(self, *names): self.names = names
    def keys(self): return list(self.names)
    def __getitem__(self, name): return name.upper()
    def __iter__(self): return iter("XY")
class Fields:
    _fields = ("a", "a")
    def _asdict(self): return {"a": 1}
class Arrow:
    column_names = ("a", "a")
    def to_pylist(self): return [{"a": 1}]
def does(name, value): return type("Library", (), {name: lambda self: value})()
def endless():
    while True: yield 1

circle = []
circle.append({"in": circle})
ring = Point(1); ring.y = [ring]
def deep(depth, value=1):
    for _ in range(depth): value = [value]
    return value
nan, inf = float("nan"), float("inf")

VALUES = {
    "enum": Colour.RED, "int_enum": Level.HIGH, "str_enum": [Name.ADA], "point": Point(1, Point(2, {Colour.RED})),
    "pair": Pair(1, (2,)), "mapping": {"m": Mapping()}, "proxy": types.MappingProxyType({"a": 1}),
    "date": [datetime.date(2024, 2, 29), datetime.datetime(2024, 2, 29, 1, 2, 3, tzinfo=datetime.timezone.utc), datetime.time(1, 2)],
    "text": [decimal.Decimal("1.10"), uuid.UUID(int=1), pathlib.PurePosixPath("/a/b")],
    "set": {3, 1, 2}, "frozen": frozenset("ba"), "mixed": [{1}, set()], "bytes": [b"\\xff", bytearray(b"a"), memoryview(b"b")],
    "numpy": [Scalar(), Array()], "keys": {1: 1, 1.5: 2, True: 3, None: 4, Name.ADA: 5, 10**30: 6},
    "ordered": collections.OrderedDict(b=1, a=2), "default": collections.defaultdict(list, a=[1]), "counter": collections.Counter("aa"),
    "surrogate": ["\\ud800", {"\\udfff": pathlib.PurePosixPath("a\\udcff")}], "big": 10**400, "none": None,
    "nat": NaT, "nats": [NaT, {"a": (NaT, {1: Point(NaT)})}, [datetime.date(2024, 1, 1), {1}]],
    "nan": {"a": [1, nan]}, "inf": [-inf], "nan_key": {nan: 1}, "nan_inside": [Point(1, nan)],
    "circle": circle, "ring": [ring], "deep": deep(100000), "fine": deep(200),
    "thing": {"items": [1, 2, Thing()], "later": 1}, "odd": {"odd key": Point({"x": Thing})}, "set_of": [{frozenset([1]), 2j}],
    "tuple_key": {"a": {(1, 2): 3}}, "enum_key": {Colour.RED: 1}, "bytes_key": [{b"a": 1}], "complex": 1j, "same_keys": {Colour.RED: 1, "red": 2},
    "other_keys": {datetime.date(2024, 2, 29): 1, datetime.timedelta(hours=1): 2, decimal.Decimal("1.10"): 3, pathlib.PurePosixPath("/a"): 4, Integer(): {5}, Level2.TWO: 6},
    "deltas": [datetime.timedelta(1), datetime.timedelta(), datetime.timedelta(seconds=-0.5), datetime.timedelta(1, 7384, 5), -datetime.timedelta(1)],
    "attrs": Attrs(), "model": Model(), "na": [NA()], "range": range(3),
    "raises": [Raises()], "function": deep, "module": sys, "lazy": type("Lazy", (), {"collect": list, "__module__": "library"})(), "endless": {"a": endless()},
    "same_columns": [Row("a", "a")], "same_fields": [Fields()], "same_names": [Arrow()],
    "array": array.array("d", [1]), "views": [{2: 1}.keys(), {2: 1}.values(), {2: {1}}.items()], "rows": Rows(), "row": [Row("a", "b")],
    "user": [collections.UserString("ab"), collections.UserList("ab"), collections.UserDict(a=1), collections.ChainMap({"a": 1})],
    "texts": [fractions.Fraction(1, 3), ipaddress.ip_address("::1"), ipaddress.ip_network("10.0.0.0/8"), re.compile("a+")],
    "more_keys": {fractions.Fraction(1, 3): 1, ipaddress.ip_address("::1"): 2},
    "says": [does("__json__", {1}), does("to_dicts", [{"a": 1}]), does("to_pylist", [1]), does("as_py", 1), does("tolist", [1]), does("to_list", [1]), does("_asdict", {"a": 1}), does("isoformat", "2024")],
    "deque": {"a": collections.deque([1, {"b": collections.deque([2])}])}, "evil": [Evil([1])],
    "evil_later": [1, object(), Evil([1])], "at_top_bytes": b"\\x00\\xff", "at_top_array": bytearray(b"a"), "at_top_view": memoryview(b"b"),
}
def get(name): return VALUES[name]
def stream(name): yield VALUES[name]

async def coroutine(): pass
def coroutines(): return [1, {"a": coroutine()}, (coroutine(),), Point(coroutine())]
def streams_coroutines(): yield [coroutine(), coroutine()]
async def returns_coroutines(): return [coroutine(), Point(coroutine())]

def digits(): return [10**5000, {-(10**5000): Level.HIGH}, {"a": {10**6000}}]
def limit(): return sys.get_int_max_str_digits() if hasattr(sys, "get_int_max_str_digits") else 0
def modulo(x, y): return x % y

def allow(size): sys.modules["_pyplug_worker"].LARGEST = size
def text(size): return "x" * size
def a_set(size): return {"x" * size}
def some_bytes(size): return b"x" * size
async def from_coroutine(size): return "x" * size
def item(size): yield "x" * size
async def async_item(size): yield "x" * size
"""


class Values(Case):
    PLUGIN = PLUGIN

    def test_represented(self):
        for name, value in {
            "enum": "red",
            "int_enum": 3,
            "str_enum": ["ada"],
            "point": {"x": 1, "y": {"x": 2, "y": ["red"]}},
            "pair": [1, [2]],
            "mapping": {"m": {"k": 1}},
            "proxy": {"a": 1},
            "date": ["2024-02-29", "2024-02-29T01:02:03+00:00", "01:02:00"],
            "text": ["1.10", "00000000-0000-0000-0000-000000000001", "/a/b"],
            "set": [1, 2, 3],
            "frozen": ["a", "b"],
            "mixed": [[1], []],
            "bytes": ["/w==", "YQ==", "Yg=="],
            "numpy": [1.5, [1, [2.5]]],
            "keys": {"1": 3, "1.5": 2, "null": 4, "ada": 5, str(10**30): 6},
            "ordered": {"b": 1, "a": 2},
            "default": {"a": [1]},
            "counter": {"a": 2},
            "surrogate": ["\ud800", {"\udfff": "a\udcff"}],
            "big": 10**400,
            "none": None,
            "enum_key": {"red": 1},
            "other_keys": {"2024-02-29": 1, "PT1H": 2, "1.10": 3, "/a": 4, "1": [5], "2": 6},
            "range": [0, 1, 2],
            "deque": {"a": [1, {"b": [2]}]},
            "deltas": ["P1D", "PT0S", "-PT0.5S", "P1DT2H3M4.000005S", "-P1D"],
            "attrs": {"a": 1, "_b": [2]},
            "model": {"dumped": "json"},
            "na": [None],
            "array": [1.0],
            "views": [[2], [1], [[2, [1]]]],
            "rows": [1, [2]],
            "row": [{"a": "A", "b": "B"}],
            "user": ["ab", ["a", "b"], {"a": 1}, {"a": 1}],
            "texts": ["1/3", "::1", "10.0.0.0/8", "a+"],
            "more_keys": {"1/3": 1, "::1": 2},
            "says": [[1], [{"a": 1}], [1], 1, [1], [1], {"a": 1}, "2024"],
            "nat": None,
            "nats": [None, {"a": [None, {"1": {"x": None, "y": None}}]}, ["2024-01-01", [1]]],
        }.items():
            self.ok(self.worker.call("get", name), value)
            self.assertEqual(self.worker.stream(self.worker.begin("stream", name)), ([value], "Z", None))
        self.assertEqual(self.worker.call("get", "fine")[0], "R")

    def test_bytes_at_the_top(self):
        for name, value in (("at_top_bytes", b"\0\xff"), ("at_top_array", b"a"), ("at_top_view", b"b")):
            self.assertEqual(self.worker.call("get", name), ("B", value))
            self.assertEqual(self.worker.stream(self.worker.begin("stream", name)), ([value], "Z", None))

    def test_not_represented(self):
        for name, place, message in (
            ("nan", "$.a[1]", "NaN"),
            ("inf", "$[0]", "-Infinity"),
            ("nan_key", "$", "a key of type float: nan"),
            ("nan_inside", "$[0].y", "NaN"),
            ("circle", "$[0].in", "a circular reference"),
            ("ring", "$[0].y[0]", "a circular reference"),
            ("thing", "$.items[2]", "Thing object (return a dict, or make Thing a dataclass)"),
            ("odd", '$["odd key"].x.x', "type object"),
            ("set_of", None, "object"),
            ("tuple_key", "$.a", "a key of type tuple: (1, 2) (make it a text, or return a list of pairs)"),
            ("same_keys", "$", "two keys with the text .red"),
            ("bytes_key", "$[0]", "a key of type bytes: b'a'"),
            ("complex", "$", "complex object (make a dict or a list of it)"),
            ("evil", "$[0]", "reading it raised SystemExit: evil"),
            ("evil_later", "$[1]", "object object"),
            ("raises", "$[0]", "Raises object: reading it raised RuntimeError: not now"),
            ("lazy", "$", "library.Lazy object (make a dict or a list of it)"),
            ("function", "$", "function object (call it)"),
            ("module", "$", "module object (make a dict or a list of it)"),
            ("endless", "$.a", "generator object of more than 1000000 items"),
            ("same_columns", "$[0]", "Row has two columns with the same name (rename one)"),
            ("same_fields", "$[0]", "Fields has two columns with the same name"),
            ("same_names", "$[0]", "Arrow has two columns with the same name"),
            ("deep", None, "nested too deeply"),
        ):
            answers = [self.worker.call("get", name)]
            items, kind, value = self.worker.stream(self.worker.begin("stream", name))
            answers.append((kind, value))
            self.assertEqual(items, [])
            for answer in answers:
                answer = self.refused(answer, "result")
                self.assertIn(message, answer["message"])
                self.assertLess(len(answer["place"]), 300)
                if place is not None:
                    self.assertEqual(answer["place"], place)
                self.assertEqual("python" in answer, name in ("raises", "evil"))
                self.assertNotIn("cause", answer.get("python", {}))

    def test_coroutines_inside(self):
        worker = self.start(PLUGIN)
        for name, place in (("coroutines", "$[1].a"), ("streams_coroutines", "$[0]"), ("returns_coroutines", "$[0]")):
            answer = self.refused(worker.call(name), "result")
            self.assertEqual((answer["message"], answer["place"]), ("coroutine object (await it)", place))

    def test_digits(self):
        limit = self.worker.call("limit")
        self.ok(self.worker.call("digits"), [10**5000, {str(-(10**5000)): 3}, {"a": [10**6000]}])
        self.ok(self.worker.call("modulo", 10**5000 + 7, 10**5000), 7)
        self.assertEqual(self.worker.call("limit"), limit)

    def test_too_large(self):
        worker = self.start(PLUGIN)
        worker.call("allow", 5 << 20)
        for name in ("text", "a_set", "some_bytes", "from_coroutine", "item", "async_item"):
            items, kind, value = worker.stream(worker.begin(name, 6 << 20))
            answer = self.refused((kind, value), "result")
            self.assertEqual((items, answer["place"]), ([], "$"))
            self.assertRegex(answer["message"], "^the result is [68] MB, at most 5 MB$")

    def test_nan_rules(self):
        worker = self.start(PLUGIN, nan="null")
        for name, value in (
            ("nan", {"a": [1, None]}),
            ("inf", [None]),
            ("nan_key", {"null": 1}),
            ("nan_inside", [{"x": 1, "y": None}]),
        ):
            self.ok(worker.call("get", name), value)
        worker = self.start(PLUGIN, nan="literal")
        self.ok(worker.call("get", "inf"), [float("-inf")])
        self.assertIn("NaN", repr(worker.call("get", "nan")).replace("nan", "NaN"))
        self.refused(worker.call("get", "thing"), "result")

    def test_numpy(self):
        try:
            import numpy  # noqa: F401
        except ImportError:
            self.skipTest("no numpy here")
        worker = self.start(
            "import numpy as np\n"
            "def get(): return [np.int64(1), np.float64(1.5), np.float32(0.5), np.bool_(True), np.str_('s'), np.arange(4).reshape(2, 2)]"
        )
        self.ok(worker.call("get"), [1, 1.5, 0.5, True, "s", [[0, 1], [2, 3]]])


class Describe(Case):
    PLUGIN = '''
from __future__ import annotations
import functools, typing, datetime

def plain(a, b: int, c="x", *rest, d: "typing.Optional[str]" = None, e=2.5, **more) -> typing.Optional[int]:
    """
    First line.

    Second."""
async def coroutine(): pass
def generator(): yield
async def both(): yield
def defaults(text="", number=1, real=1.0, flag=True, nothing=None, things=[1], long="x" * 100): pass
@functools.wraps(plain)
def wrapped(*args, **kwargs): return plain(*args, **kwargs)
partial = functools.partial(plain, 1, c="y")
class Object:
    def method(self, x: int): pass
    def __call__(self, y): "Called."
called = Object()
method = called.method
bound = functools.partial(coroutine)
'''

    def described(self, name=None):
        kind, value = self.worker.ask("D", {"hook": "", "input": False})
        self.assertEqual(kind, "R", value)
        return [hook for hook in value["hooks"] if name in (None, hook["name"])]

    def test_all(self):
        names = [hook["name"] for hook in self.described()]
        wanted = "plain coroutine generator both defaults wrapped partial Object.method called called.method method bound".split()
        self.assertEqual(names, wanted)

    def test_plain(self):
        params = [
            {"name": "a", "required": True, "kind": "ordinary"},
            {"name": "b", "required": True, "kind": "ordinary", "type": "int"},
            {"name": "c", "required": False, "kind": "ordinary", "type": "str", "default": "'x'"},
            {"name": "rest", "required": False, "kind": "positions"},
            {"name": "d", "required": False, "kind": "name", "type": "typing.Optional[str]", "default": "None"},
            {"name": "e", "required": False, "kind": "name", "type": "float", "default": "2.5"},
            {"name": "more", "required": False, "kind": "names"},
        ]
        if sys.version_info < (3, 14):  # a later version may quote differently
            params[4]["type"] = "'typing.Optional[str]'"
        told = {"name": "plain", "doc": "First line.", "params": params, "returns": "typing.Optional[int]"}
        self.assertEqual(self.described("plain"), [told])
        self.assertEqual(self.described("wrapped"), [dict(told, name="wrapped")])

    def test_sorts(self):
        for name, more in (
            ("coroutine", {"async": True}),
            ("generator", {"streams": "out"}),
            ("both", {"async": True, "streams": "out"}),
            ("bound", {"async": True}),
        ):
            self.assertEqual(self.described(name), [dict({"name": name, "params": []}, **more)])

    def test_defaults(self):
        params = self.described("defaults")[0]["params"]
        self.assertEqual([param.get("type") for param in params], ["str", "int", "float", "bool", None, None, "str"])
        self.assertEqual([len(param["default"]) for param in params[-1:]], [60])

    def test_objects(self):
        for name, wanted in (("called", ["y"]), ("called.method", ["x"]), ("method", ["x"])):
            hook = self.described(name)[0]
            self.assertEqual([param["name"] for param in hook["params"]], wanted)
        self.assertEqual([param["name"] for param in self.described("partial")[0]["params"]][:1], ["b"])
        self.refused(self.worker.ask("D", {"hook": "nope", "input": False}), "hook")

    def test_evaluated_annotations(self):
        worker = self.start(
            "import datetime, typing\nclass Own: pass\n"
            "def hook(a: int, b: datetime.date, c: typing.List[int], d: None, e: Own, f: typing.Optional[str], g: 'Own'): pass"
        )
        params = worker.ask("D", {"hook": "", "input": False})[1]["hooks"][0]["params"]
        wanted = ["int", "datetime.date", "List[int]", "None", "Own", "Optional[str]", "Own"]
        if sys.version_info >= (3, 14):
            wanted[5] = "typing.Optional[str]"
        self.assertEqual([param["type"] for param in params], wanted)

    def test_no_addresses(self):
        """Checks that a signature has no addresses, so that it is the same at each start."""
        worker = self.start(
            "from typing import Annotated, List\nclass Own: pass\n"
            "def hook(a: Annotated[int, Own()], b: Annotated[int, Own(), 'meters'], c: List[Annotated[int, Own()]] = Own(), d=print, e=lambda: 1): pass"
        )
        params = worker.ask("D", {"hook": "", "input": False})[1]["hooks"][0]["params"]
        self.assertEqual([params[0]["type"], params[1]["type"]], ["int", "Annotated[int, 'meters']"])
        self.assertEqual([param["default"] for param in params[2:]], ["<plug.Own object>", "<built-in function print>", "<function <lambda>>"])
        self.assertNotIn(" at 0x", str(params))

    def test_builtin_generics(self):
        worker = self.start("def hook(a: list[int], /, *, b: dict[str, int] = {}) -> tuple[int, ...]: pass")
        hook = worker.ask("D", {"hook": "hook", "input": False})[1]["hooks"][0]
        self.assertEqual(
            [(p["type"], p["kind"]) for p in hook["params"]], [("list[int]", "position"), ("dict[str, int]", "name")]
        )
        self.assertEqual(hook["returns"], "tuple[int, ...]")


if __name__ == "__main__":
    unittest.main()
