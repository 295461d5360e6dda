"""Tests the detailed description of one hook."""

import unittest

from client import Case

SOURCE = '''
    from __future__ import annotations
    import collections, dataclasses, datetime, decimal, enum, functools, os, pathlib, typing, uuid
    class Env(enum.Enum):
        PROD = "prod"
        DEV = object()
    class Level(enum.IntEnum):
        LOW = 1
        HIGH = 2
    @dataclasses.dataclass
    class Point:
        x: int
        y: typing.List[Level]
        z: int = 3
    class Pair(typing.NamedTuple):
        first: str
        second: bool = True
    @dataclasses.dataclass
    class Node:
        next: Node
    def plain(a: int, b: float, c: bool, d: str, e: bytes, f): return "called"
    def times(a: datetime.date, b: datetime.datetime, c: datetime.time, d: datetime.timedelta): return "called"
    def others(a: decimal.Decimal, b: uuid.UUID, c: pathlib.Path, d: typing.Any): return "called"
    def chosen(a: Env, b: Level, c: typing.Optional[Env] = None, d: typing.Union[Env, Level, None] = None): return "called"
    def nested(a: typing.Optional[int], b: typing.List[Point], c: typing.Dict[str, Pair], d: typing.Tuple[int, str], e: typing.Set[int]): return "called"
    def generic(a: typing.Sequence[str], b: typing.Tuple[int, ...], c: list, d: typing.NewType("T", int)): return "called"
    def endless(a: Node): return "called"
    def partly(a: Env, b: Nothing, c: "int | Level"): return "called"
    def unknown(a: Nothing, b: typing.TypeVar("T"), c: "1 +"): return "called"
    def defaults(a=1, b="x", c=Env.PROD, d=datetime.date(2024, 1, 2), e=object(), *args, f=float("nan"), **kwargs): return "called"
    class Corner(enum.Enum):
        LEFT = (0, 0)
        RIGHT = (1, 0)
    def corners(a: Corner, b=Corner.RIGHT, c: Corner = Corner.LEFT): return "called"
    def bare(a, /, b: int, *, c=1): return "called"
    @functools.lru_cache()
    def cached(a: Level): return "called"
    class Tool:
        def use(self, a: int):
            """Use it.

               With an indented line.
            """
            return "called"
    '''
FIELDS = {
    "nested": {"Point": ["x: int", "y: List[plug.Level]", "z: int"], "Pair": ["first: str", "second: bool"]},
    "endless": {"Node": ["next: Node"]},
    "plain": None,
}
TIMES = ["2026-01-31", "2026-01-31T12:00:00", "12:00:00", "PT1H"]
TEMPLATES = {
    "plain": {"a": 1, "b": 1.5, "c": True, "d": "text", "e": "dGV4dA==", "f": "text"},
    "times": dict(zip("abcd", TIMES)),
    "others": {"a": "1.50", "b": "123e4567-e89b-12d3-a456-426614174000", "c": "text", "d": "text"},
    "chosen": {"a": "prod", "b": 1, "c": None, "d": None},
    "nested": {"a": 1, "b": [{"x": 1, "y": [1]}], "c": {"text": {"first": "text"}}, "d": [1, "text"], "e": [1]},
    "generic": {"a": ["text"], "b": [1], "c": [], "d": 1},
    "partly": {"a": "prod", "b": "text", "c": 1},
    "unknown": {"a": "text", "b": "text", "c": "text"},
    "defaults": {"a": 1, "b": "x", "c": "prod", "d": "2024-01-02", "e": None, "f": None},
    "corners": {"a": "LEFT", "b": "RIGHT", "c": "LEFT"},
    "cached": {"a": 1},
    "Tool.use": {"a": 1},
}


class Explain(Case):
    def test_fields(self):
        """Checks that each class with fields in a hook's annotations is described once."""
        worker = self.start(SOURCE)
        for name, want in FIELDS.items():
            found = self.explained(worker, name).get("messages")
            got = found and {one["name"]: ["%(name)s: %(type)s" % field for field in one["fields"]] for one in found}
            self.assertEqual(got, want, name)

    def test_templates(self):
        """Checks that each template has a value of each parameter's type, and that the hook accepts it."""
        worker = self.start(SOURCE)
        for name, template in TEMPLATES.items():
            info = self.explained(worker, name)
            self.assertEqual(info["template"], template, name)
            kwargs = {key: value for key, value in template.items() if value is not None}
            self.assertEqual(worker.ask("C", {"hook": name, "kwargs": kwargs})[1], "called", name)
        self.assertEqual(self.explained(worker, "bare")["template"], ["text", 1])
        self.assertTrue(self.explained(worker, "endless")["template"]["a"])

    def test_choices(self):
        """Checks the choices of enums and literals. A member whose value is not JSON is listed by its name."""
        worker = self.start(SOURCE)
        choices = [param.get("choices") for param in self.explained(worker, "chosen")["params"]]
        self.assertEqual(choices, [["prod", "DEV"], [1, 2], ["prod", "DEV"], ["prod", "DEV", 1, 2]])
        choices = [param.get("choices") for param in self.explained(worker, "corners")["params"]]
        self.assertEqual(choices, [["LEFT", "RIGHT"]] * 3)
        choices = [param.get("choices") for param in self.explained(worker, "partly")["params"]]
        self.assertEqual(choices, [["prod", "DEV"], None, None])

    def test_flags(self):
        """Checks that every annotation that allows only a bool, and perhaps None, makes a flag."""
        worker = self.start("""
            from typing import *
            T, B = NewType("T", bool), TypeVar("B", bound=bool)
            def flags(a: bool, b: "None | bool", c: Annotated[bool, 1], d: Optional[Annotated[bool, 1]], e: T, f: B, *, g=False, h: "Final[bool]" = None): pass
            def values(a: bool, /, b: int, c: Literal[True, False], d: Union[bool, int], e: List[bool], f: Any = True, *g: bool, **h: bool): pass
        """)
        for name, want in ("flags", [True] * 8), ("values", [None] * 8):
            self.assertEqual([param.get("flag") for param in self.explained(worker, name)["params"]], want)

    def test_names_that_come_later(self):
        """Checks that a name that is missing when a hook is described may exist when it is called."""
        worker = self.start("""
            def define():
                global date
                from datetime import date
            def use(when: "date"): return type(when).__name__
        """)
        self.assertIn("unresolved", self.explained(worker, "use")["params"][0])
        worker.call("define")
        self.ok(worker.call("use", "2024-01-01"), "date")
        self.assertNotIn("unresolved", self.explained(worker, "use")["params"][0])

    def test_documentation(self):
        """Checks that the documentation is whole and not indented, and that a list of hooks has its first line."""
        worker = self.start(SOURCE)
        info = self.explained(worker, "Tool.use")
        self.assertEqual((info["doc"], info["documentation"]), ("Use it.", "Use it.\n\nWith an indented line."))
        listed = next(hook for hook in worker.ask("D", {"hook": "", "input": False})[1]["hooks"] if hook["name"] == "Tool.use")
        self.assertEqual(sorted(listed), ["doc", "name", "params"])

    def test_no_such_hook(self):
        kind, answer = self.start(SOURCE).ask("D", {"hook": "Point", "input": False})[:2]
        self.assertEqual((kind, answer["reason"]), ("E", "hook"))

    def explained(self, worker, name):
        kind, answer = worker.ask("D", {"hook": name, "input": False})[:2]
        self.assertEqual(kind, "R", answer)
        return answer["hooks"][0]


if __name__ == "__main__":
    unittest.main()
