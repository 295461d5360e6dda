"""Tests type variables in annotations: their types, and the scopes in which names are looked up."""

import sys
import unittest

from client import Case

SOURCE = '''
import dataclasses, decimal, functools
from collections import OrderedDict
from datetime import date
from typing import *
T, U, V = TypeVar("T"), TypeVar("U"), TypeVar("V")
D = TypeVar("D", bound=date)
L = TypeVar("L", bound="Later")
N = TypeVar("N", int, date)
Some = List[T]
Cross = Dict[U, T]

@dataclasses.dataclass
class Box(Generic[T]):
    item: T
    more: "Optional[List[T]]" = None
@dataclasses.dataclass
class Base(Generic[T, U]):
    a: T
    b: "U"
@dataclasses.dataclass
class DateBase(Base[date, int]):
    c: date = None
@dataclasses.dataclass
class Swap(Base[U, T], Generic[T, U]):
    c: Optional[T] = None
@dataclasses.dataclass
class Below(Swap[date, "int"]): pass
@dataclasses.dataclass
class Outer(Generic[T]):
    box: Box[T]
    boxes: "Dict[str, Box[List[T]]]" = dataclasses.field(default_factory=dict)
@dataclasses.dataclass
class Node(Generic[T]):
    value: T
    next: "Optional[Node[T]]" = None
@dataclasses.dataclass
class Bound(Generic[D]):
    when: D
@dataclasses.dataclass
class Scaled(Generic[T]):
    item: T
    scale: dataclasses.InitVar[T] = None
@dataclasses.dataclass
class Endless(Generic[T]):
    value: T
    next: "Optional[Endless[List[T]]]" = None
@dataclasses.dataclass
class Later:
    when: "date"
@dataclasses.dataclass
class Shadow:
    list: "list" = ()
    date: "date" = None
    other: "Optional[Inner]" = None
    class Inner(NamedTuple):
        when: date
class Store(Generic[T]):
    def put(self, item: T, *, all: "List[T]" = ()) -> T: return repr((item, all))
    @classmethod
    def make(cls, item: "T"): return repr((cls.__name__, item))
    def me(self, other: "Optional[Store[T]]" = None): return "me"
    def __call__(self, item: T): return repr(item)
class DateStore(Store[date]): pass
dates = Store[date]()
partly = functools.partial(dates.put, all=[])
class Pair(NamedTuple):
    first: date
class Longer(Pair):
    def more(self): pass
def free(one: T, many: List[T], when: D, later: L = None, number: "N" = 1): return repr((one, many, when, later, number))
'''
NOTES = {
    "box": "Box[date]", "text": "'Box[date]'", "quoted": "Box['date']", "bare": "Box", "union": "Optional[Box[Union[int, date]]]",
    "annotated": "Box[Annotated[date, {}]]", "literal": "Box[Literal['date', 1]]", "base": "DateBase", "swap": "Swap[date, int]", "below": "Below",
    "outer": "Outer[date]", "list": "List[Outer[decimal.Decimal]]", "node": "Node[date]", "bound": "Bound", "scaled": "Scaled[date]",
    "endless": "Endless[int]", "shadow": "Shadow", "longer": "Longer", "some": "Some[date]", "cross": "Cross[date, int]",
    "variable": "T", "plain": "list[date]", "empty": "Tuple[()]", "new": "NewType('New', Box[date])", "class": "Type[T]",
}
BOX = "Box(item=datetime.date(2024, 1, 2), more=None)"
DATE, OTHER, GOT = "2024-01-02", "2024-01-03", "datetime.date(2024, 1, 2)"
CASES = [
    ("box", {"item": DATE}, BOX), ("text", {"item": DATE}, BOX), ("quoted", {"item": DATE}, BOX), ("new", {"item": DATE}, BOX),
    ("box", {"item": "no date"}, None, '$.x.item is "no date", expected a date such as 2024-12-31'),
    ("box", {"item": DATE, "more": [DATE, 1]}, None, "$.x.more[1] is 1, expected a date such as 2024-12-31"),
    ("box", 1, None, "x is 1, expected Box[datetime.date]"),
    ("bare", {"item": DATE, "more": [1, "a"]}, "Box(item='2024-01-02', more=[1, 'a'])"),
    ("union", {"item": 1}, "Box(item=1, more=None)"), ("union", {"item": DATE}, BOX), ("union", None, "None"),
    ("annotated", {"item": DATE}, BOX), ("literal", {"item": "date"}, "Box(item='date', more=None)"), ("literal", {"item": 2}, None, "$.x.item is 2, expected one of date, 1"),
    ("base", {"a": DATE, "b": 1, "c": DATE}, "DateBase(a=%s, b=1, c=%s)" % (GOT, GOT)), ("base", {"a": DATE, "b": DATE}, None, '$.x.b is "2024-01-02", expected int'),
    ("swap", {"a": 1, "b": DATE, "c": DATE}, "Swap(a=1, b=%s, c=%s)" % (GOT, GOT)), ("below", {"a": 1, "b": DATE, "c": DATE}, "Below(a=1, b=%s, c=%s)" % (GOT, GOT)),
    ("below", {"a": DATE, "b": DATE}, None, '$.x.a is "2024-01-02", expected int'),
    ("outer", {"box": {"item": DATE}, "boxes": {"a": {"item": [DATE]}}}, "Outer(box=%s, boxes={'a': Box(item=[%s], more=None)})" % (BOX, GOT)),
    ("outer", {"box": {"item": DATE}, "boxes": {"a": {"item": [1]}}}, None, "$.x.boxes.a.item[0] is 1, expected a date such as 2024-12-31"),
    ("list", [{"box": {"item": "1.50"}}], "[Outer(box=Box(item=Decimal('1.50'), more=None), boxes={})]"),
    ("node", {"value": DATE, "next": {"value": DATE}}, "Node(value=%s, next=Node(value=%s, next=None))" % (GOT, GOT)),
    ("node", {"value": DATE, "next": {"value": 1}}, None, "$.x.next.value is 1, expected a date such as 2024-12-31"),
    ("bound", {"when": DATE}, "Bound(when=%s)" % GOT), ("scaled", {"item": DATE}, "Scaled(item=%s)" % GOT), ("scaled", {"item": DATE, "scale": 1}, None, "$.x.scale is 1, expected a date such as 2024-12-31"),
    ("endless", {"value": "a"}, "{'value': 'a'}"),
    ("shadow", {"list": [1], "date": DATE, "other": [DATE]}, "Shadow(list=[1], date=%s, other=Inner(when=%s))" % (GOT, GOT)),
    ("longer", [DATE], "Longer(first=%s)" % GOT), ("some", [DATE], "[%s]" % GOT), ("cross", {DATE: 1}, "{%s: 1}" % GOT),
    ("variable", DATE, repr(DATE)), ("plain", [DATE], "[%s]" % GOT), ("empty", [], "()"), ("empty", [1], None, "x is [1], expected Tuple[()]"),
]  # fmt: skip
FREE = "(1, ['a'], %s, None, 1)" % GOT

LATER = {  # version of Python → source and cases that need it
    (3, 11): (
        '''
        class Reply(TypedDict, Generic[T]):
            items: List[T]
            next: "Optional[Reply[T]]"
            note: "NotRequired[T]"
        class Dated(Reply[date]):
            when: date
        class Row(NamedTuple, Generic[T]):
            first: T
            rest: "List[T]" = []
        @dataclasses.dataclass
        class Link:
            date: date
            next: Optional[Self] = None
        Ts = TypeVarTuple("Ts")
        @dataclasses.dataclass
        class Columns(Generic[T, Unpack[Ts]]):
            first: T
            rest: "Tuple[Unpack[Ts]]"
        def reply(x: Reply[date]): return repr(x)
        def dated(x: Dated): return repr(x)
        def row(x: Row[date]): return repr(x)
        def link(x: Link): return repr(x)
        def columns(x: "Columns[int, date, str]"): return repr(x)
        def options(x: Reply[List[date]]): return repr(x)
        ''',
        [
            ("reply", {"items": [DATE], "next": {"items": [DATE], "next": None, "note": DATE}}, "{'items': [%s], 'next': {'items': [%s], 'next': None, 'note': %s}}" % (GOT, GOT, GOT)),
            ("reply", {"items": [DATE], "next": {"items": [1], "next": None}}, None, "$.x.next.items[0] is 1, expected a date such as 2024-12-31"),
            ("dated", {"items": [DATE], "next": None, "when": DATE}, "{'items': [%s], 'next': None, 'when': %s}" % (GOT, GOT)),
            ("row", [DATE, [DATE]], "Row(first=%s, rest=[%s])" % (GOT, GOT)), ("row", {"first": 1}, None, "$.x.first is 1, expected a date such as 2024-12-31"),
            ("link", {"date": DATE, "next": {"date": DATE}}, "Link(date=%s, next=Link(date=%s, next=None))" % (GOT, GOT)),
            ("columns", {"first": 1, "rest": [DATE, "a"]}, "Columns(first=1, rest=(%s, 'a'))" % GOT),
            ("columns", {"first": 1, "rest": [DATE]}, None, '$.x.rest is ["2024-01-02"], expected Tuple[datetime.date, str]'),
        ],
    ),
    (3, 12): (
        '''
        @dataclasses.dataclass
        class Page[X]:
            items: list[X]
            next: "Page[X] | None" = None
        @dataclasses.dataclass
        class Dates[T](Page[date]):
            extra: T = None
        class Typed[X](TypedDict):
            x: X
        class Tupled[X](NamedTuple):
            x: "X"
        class Shelf[T]:
            def put(self, item: T): return repr(item)
            def both[U: date](self, item: T, other: U | None = None): return repr((item, other))
            @staticmethod
            def bare(item: "list[T]"): return repr(item)
        class DateShelf(Shelf[date]): pass
        shelf = Shelf[date]()
        type Couple[A] = tuple[A, A]
        type Tree[A] = A | list[Tree[A]]
        type Bad = list[Nowhere]
        @dataclasses.dataclass
        class Odd:
            when: date
            bad: Bad = None
            next: "Optional[Odd]" = None
        def odd(x: Odd): return repr(x)
        type Json = dict[str, Json] | list[Json] | str | int | None
        def page(x: Page[date]): return repr(x)
        def dates(x: Dates[int]): return repr(x)
        def typed(x: Typed[date]): return repr(x)
        def tupled(x: Tupled[date]): return repr(x)
        def couple(x: Couple[date]): return repr(x)
        def boxed(x: Page[Couple[date]]): return repr(x)
        def tree(x: Tree[date]): return repr(x)
        def json(x: Json): return repr(x)
        def own[T: date](x: "list[T]"): return repr(x)
        def constrained[T: (int, date)](x: T): return repr(x)
        def anything[T](x: T): return repr(x)
        ''',
        [
            ("page", {"items": [DATE], "next": {"items": []}}, "Page(items=[%s], next=Page(items=[], next=None))" % GOT),
            ("page", {"items": [], "next": {"items": [1]}}, None, "$.x.next.items[0] is 1, expected a date such as 2024-12-31"),
            ("dates", {"items": [DATE], "extra": 1}, "Dates(items=[%s], next=None, extra=1)" % GOT),
            ("typed", {"x": DATE}, "{'x': %s}" % GOT), ("tupled", [DATE], "Tupled(x=%s)" % GOT), ("couple", [DATE, DATE], "(%s, %s)" % (GOT, GOT)),
            ("couple", [DATE, 1], None, "$.x[1] is 1, expected a date such as 2024-12-31"), ("boxed", {"items": [[DATE, DATE]]}, "Page(items=[(%s, %s)], next=None)" % (GOT, GOT)),
            ("tree", [DATE, [DATE]], "[%s, [%s]]" % (GOT, GOT)), ("tree", [DATE, [1]], None, "$.x[1][0] is 1, expected a date such as 2024-12-31 or list[Tree[datetime.date]]"),
            ("odd", {"when": DATE, "bad": 1, "next": {"when": DATE}}, "Odd(when=%s, bad=1, next=Odd(when=%s, bad=None, next=None))" % (GOT, GOT)),
            ("json", {"a": [1, None]}, "{'a': [1, None]}"), ("json", [1.5], None, "$.x[0] is 1.5, expected dict[str, Json] or list[Json] or str or int or None"),
            ("own", [DATE], "[%s]" % GOT), ("constrained", DATE, GOT), ("constrained", 1, "1"), ("anything", DATE, repr(DATE)),
            ("DateShelf.put", DATE, GOT), ("shelf.put", DATE, GOT), ("shelf.both", DATE, "(%s, None)" % GOT), ("Shelf.put", DATE, repr(DATE)), ("Shelf.bare", [DATE], repr([DATE])),
        ],
    ),
    (3, 13): (
        '''
        @dataclasses.dataclass
        class Default[A, B = list[A]]:
            a: A
            b: B
        @dataclasses.dataclass
        class All[A = date, B = int]:
            a: A
            b: B
        def default(x: Default[date]): return repr(x)
        def all(x: All): return repr(x)
        def first(x: All[str]): return repr(x)
        ''',
        [
            ("default", {"a": DATE, "b": [DATE]}, "Default(a=%s, b=[%s])" % (GOT, GOT)),
            ("all", {"a": DATE, "b": 1}, "All(a=%s, b=1)" % GOT), ("all", {"a": 1, "b": 1}, None, "$.x.a is 1, expected a date such as 2024-12-31"),
            ("first", {"a": "a", "b": 1}, "All(a='a', b=1)"),
        ],
    ),
}  # fmt: skip

UNPACKED = '''
class Options(TypedDict):
    when: Required[date]
    loud: NotRequired[bool]
    tags: "NotRequired[List[int]]"
class Some(TypedDict, Generic[T], total=False):
    when: Required[T]
    loud: bool
    tags: List[int]
class Dates(Generic[T]):
    def order(self, name: str, **names: "Unpack[Some[T]]"): return repr((name, names))
class Rest(TypedDict):
    name: int
    rest: int
def order(name: str, **names: Unpack[Options]): return repr((name, names))
def generic(name: str, **names: "Unpack[Some[date]]"): return repr((name, names))
method = Dates[date]().order
def shared(name: str, **names: Unpack[Rest]): return repr((name, names))
def other(name: str, **names: Unpack[Later]): return repr((name, names))
__all__ = ["order", "generic", "method", "shared", "other"]
'''
NOTED = '''
class Own: pass
@dataclasses.dataclass
class Part:
    when: date
    lost: "Nowhere"
    own: Own = None
    inner: "Optional[Part]" = None
@dataclasses.dataclass
class Lost(Base["Nowhere", int]): pass
def part(x: Part): return repr(x)
def outer(x: List[Box[Part]]): return repr(x)
def lost(x: Lost): return repr(x)
def endless(x: List[Endless[int]]): return repr(x)
def wrong(a: any, b: 5, c: Callable[[T], int], d: SupportsInt, e: NoReturn, f: Optional, g: Type[T]): pass
def right(a: Any, b: T, c: object, d: List[Any], e: Box, f: AnyStr, g: Optional[Any], h, *i: T, **j: Any): pass
'''


def option(name):
    return [{"form": "option", "name": name, "typed": "--" + name}]


class TypeVariables(Case):
    def check(self, worker, cases, prefix=""):
        """Checks cases of the form (hook, argument, value in the hook) or (hook, argument, None, error message)."""
        for name, value, got, *refused in cases:
            with self.subTest(name, value=value):
                answer = worker.call(prefix + name, value)
                if refused:
                    self.assertEqual(self.refused(answer, "arguments")["message"], refused[0])
                else:
                    self.ok(answer, got)

    def starts(self, source):
        """Returns a worker of the source, and another one in which all annotations are text."""
        found = [self.start(first + source) for first in ("", "from __future__ import annotations\n")]
        self.assertEqual([worker.ready[0] for worker in found], ["Y", "Y"], found[0].ready)
        return found

    def test_arguments(self):
        hooks = "".join("def take_%s(x: %s): return repr(x)\n" % one for one in NOTES.items())
        for worker in self.starts(SOURCE + hooks):
            self.check(worker, CASES, "take_")

    def test_functions(self):
        """Checks that a free variable allows its bound, or one of its constraints."""
        for worker in self.starts(SOURCE):
            self.ok(worker.call("free", 1, ["a"], DATE), FREE)
            self.ok(worker.call("free", DATE, ["a"], DATE, {"when": DATE}, DATE), "(%r, ['a'], %s, Later(when=%s), %s)" % (DATE, GOT, GOT, GOT))
            self.assertEqual(self.refused(worker.call("free", 1, [], "x"), "arguments")["message"], 'when is "x", expected a date such as 2024-12-31')

    def test_methods(self):
        """Checks that a subclass, or the object, binds the type variables of a method's class."""
        for worker in self.starts(SOURCE):
            for name, got in (("DateStore.put", GOT), ("dates.put", GOT), ("Store.put", repr(DATE))):
                self.ok(worker.call(name, DATE), "(%s, ())" % got)
            self.ok(worker.call("dates.put", DATE, all=[DATE]), "(%s, [%s])" % (GOT, GOT))
            self.ok(worker.call("DateStore.make", DATE), "('DateStore', %s)" % GOT)
            self.ok(worker.call("Store.make", DATE), "('Store', %r)" % DATE)
            self.ok(worker.call("dates", DATE), GOT)
            self.ok(worker.call("partly", DATE), "(%s, [])" % GOT)
            hooks = {one["name"]: one for one in worker.ask("D", {"hook": "", "input": True})[1]["hooks"]}
            self.assertEqual([one["type"] for one in hooks["DateStore.put"]["params"]], ["datetime.date", "List[datetime.date]"])
            self.assertEqual(hooks["DateStore.put"]["returns"], "datetime.date")
            self.assertEqual(hooks["dates.put"]["input_schema"]["properties"]["item"], {"type": "string", "format": "date"})
            self.assertEqual([one["type"] for one in hooks["Store.put"]["params"]][0], "T")

    @unittest.skipIf(sys.version_info < (3, 11), "typing has no Unpack")
    def test_unpacked(self):
        """Checks that **kwargs with an Unpack[TypedDict] are parameters by name."""
        for worker in self.starts(SOURCE + UNPACKED):
            for hook in ("order", "generic", "method"):
                info = worker.ask("D", {"hook": hook, "input": True})[1]["hooks"][0]
                params = [(one["name"], one["kind"], one["required"], one.get("type")) for one in info["params"]]
                want = [("name", "ordinary", True, "str"), ("when", "name", True, "datetime.date"), ("loud", "name", False, "bool"), ("tags", "name", False, "List[int]")]
                self.assertEqual(params, want, hook)
                schema = info["input_schema"]
                self.assertEqual((schema["required"], schema["additionalProperties"]), (["name", "when"], False))
                self.assertEqual(schema["properties"]["when"], {"type": "string", "format": "date"})
                self.assertNotIn("unresolved", str(info))
                self.ok(worker.call(hook, name="a", when=DATE), "('a', {'when': %s})" % GOT)
                words = [{"text": "a"}, *option("when"), {"text": DATE}, *option("loud"), *option("tags"), {"text": "1"}, *option("tags"), {"text": "2"}]
                self.ok(worker.ask("C", {"hook": hook, "words": words}), "('a', {'when': %s, 'loud': True, 'tags': [1, 2]})" % GOT)
                for names, message in (
                    ({}, "when is missing, expected"), ({"when": 1}, "when is 1, expected a date such as 2024-12-31"), ({"when": DATE, "lod": True}, 'no parameter "lod", expected'),
                ):  # fmt: skip
                    self.assertEqual(self.refused(worker.call(hook, name="a", **names), "arguments")["message"], message)
            self.ok(worker.call("shared", name="a", rest=1), "('a', {'rest': 1})")
            self.assertEqual(self.noted(worker, "other"), {"names": "nothing converts to Unpack[Later]"})
        self.ok(self.start(SOURCE + UNPACKED, convert="off").call("order", name="a", lod=1), "('a', {'lod': 1})")

    def test_noted(self):
        """Checks that unconverted parts are noted, and that everything else is converted."""
        for worker in self.starts(SOURCE + NOTED):
            self.ok(worker.call("part", {"when": DATE, "lost": [1], "own": {"a": 1}}), "Part(when=%s, lost=[1], own={'a': 1}, inner=None)" % GOT)
            self.assertEqual(self.refused(worker.call("part", {"when": 1, "lost": 1}), "arguments")["message"], "$.x.when is 1, expected a date such as 2024-12-31")
            self.assertEqual(self.noted(worker, "part"), {"x": "in the field Part.lost, its annotation raises NameError: name 'Nowhere' is not defined"})
            self.assertEqual(self.noted(worker, "outer"), {"x": "in the field Part.lost, its annotation raises NameError: name 'Nowhere' is not defined"})
            self.assertEqual(self.noted(worker, "lost"), {"x": "in the field Lost.a, its annotation raises NameError: name 'Nowhere' is not defined"})
            self.assertEqual(self.noted(worker, "endless"), {"x": "its annotation raises RecursionError: it refers to itself with ever larger types"})
            wrong = self.noted(worker, "wrong")
            self.assertEqual(set(wrong), set("abcdefg"))
            self.assertEqual(wrong["b"], "nothing converts to 5")
            self.assertEqual(self.noted(worker, "right"), {})

    def noted(self, worker, hook):
        """Returns the reasons why parameters are not converted, by name."""
        params = worker.ask("D", {"hook": hook, "input": False})[1]["hooks"][0]["params"]
        return {one["name"]: one["unresolved"] for one in params if "unresolved" in one}

    def test_later_pythons(self):
        for version, (source, cases) in LATER.items():
            if sys.version_info >= version:
                lines = source.replace("\n        ", "\n")
                for worker in self.starts(SOURCE + lines):
                    self.check(worker, cases)


if __name__ == "__main__":
    unittest.main()
