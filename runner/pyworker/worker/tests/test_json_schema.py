"""Tests the JSON Schema of a hook's arguments and of its result."""

import importlib.util
import unittest

from client import Case

SOURCE = '''
    import dataclasses, datetime, decimal, enum, functools, ipaddress, pathlib, re, typing, uuid
    from typing import Annotated, Any, Dict, List, Literal, Optional, Tuple, Union
    class Doc:
        def __init__(self, text): self.documentation = text
    class Env(enum.Enum):
        PROD = "prod"
        DEV = object()
    class Level(enum.IntEnum):
        LOW = 1
    class Color(enum.Enum):
        RED = (255, 0, 0)
        ROT = (255, 0, 0)
        NONE = None
    class Bits(enum.IntFlag):
        READ = 1
        WRITE = 2
    class Odd(enum.Enum):
        ONE = 1
        @classmethod
        def _missing_(cls, value): return cls.ONE
    @dataclasses.dataclass
    class Node:
        """Node of a tree."""
        name: Annotated[str, "how it is called"]
        next: Optional["Node"] = None
        tags: List[str] = dataclasses.field(default_factory=list)
    @dataclasses.dataclass
    class Leaf:
        """Leaf."""
        at: Tuple[float, float]
        what: Any = 1
    @dataclasses.dataclass
    class Branch:
        left: Annotated[Leaf, "the left one"]
        all: List[Leaf]
        node: Optional[Node] = None
    class Pair(typing.NamedTuple):
        first: str
        second: bool = True
    class Open(typing.TypedDict, total=False):
        a: int
    def other():
        @dataclasses.dataclass
        class Node:
            x: int
        return Node
    Other = other()
    def plain(a: int, b: float, c: bool, d: str, e: bytes, f, g: None): pass
    def times(a: datetime.date, b: datetime.datetime, c: datetime.time, d: datetime.timedelta): pass
    def texts(a: uuid.UUID, b: pathlib.Path, c: re.Pattern, d: ipaddress.IPv4Address, e: decimal.Decimal): pass
    def chosen(a: Env, b: Level, c: Literal["x", 2], d: Odd): pass
    def mixed(a: Literal["x", 1, True, None, "y"], b: Literal[True, False], c: Color, d: Bits, e: Optional[Level]): pass
    def branch(a: Branch): pass
    def unions(a: Optional[int], b: Union[int, str, None], c: Union[datetime.timedelta, int], d: Union[int, typing.Any]): pass
    def nested(a: List[int], b: list, c: Dict[str, float], d: Dict[int, bool], e: Dict[Env, int], f: Tuple[int, str], h: typing.Set[int], i: Tuple[()]): pass
    def node(a: Node): pass
    def two(a: Node, b: Other): pass
    def pair(a: Pair): pass
    def table(a: Open): pass
    def defaults(a=1, b: str = "x", c=Env.PROD, d: datetime.date = datetime.date(2024, 1, 2), e=object(), f: int = None): pass
    def noted(a: Annotated[int, "how many"], b: Annotated[Optional[str], Doc("what")] = None, c: "Annotated[int, 'quoted']" = 1): pass
    def every(a, /, b, *args: int, c, **kwargs: bool): pass
    def unknown(a: "Nothing"): pass
    def nothing(): pass
    class Tool:
        def use(self, a: int):
            """Use it.

               Indented.
            """
    '''
INT, TEXT, NULL = {"type": "integer"}, {"type": "string"}, {"type": "null"}
NUMBER, BOOL = {"type": "number"}, {"type": "boolean"}
FLAT = [TEXT, NUMBER, BOOL, {"type": "object"}, NULL]
ANYTHING = {"anyOf": FLAT + [{"type": "array", "items": {"anyOf": FLAT + [{"type": "array", "items": {"anyOf": FLAT}}]}}]}
SPAN = {"type": "string", "format": "duration"}
FIRST = [{"type": "string"}, {"type": "boolean", "default": True}]
NODE = {
    "type": "object",
    "description": "Node of a tree.",
    "properties": {
        "name": {"type": "string", "description": "how it is called"},
        "next": {"anyOf": [{"$ref": "#/$defs/Node"}, NULL], "default": None},
        "tags": {"type": "array", "items": TEXT},
    },
    "required": ["name"],
    "additionalProperties": False,
}
PAIR = {
    "anyOf": [
        {"type": "object", "properties": dict(zip(("first", "second"), FIRST)), "required": ["first"], "additionalProperties": False},
        {"type": "array", "prefixItems": FIRST, "minItems": 1, "maxItems": 2, "items": {"anyOf": [TEXT, BOOL]}},
    ]
}
OTHER = {"type": "object", "properties": {"x": INT}, "required": ["x"], "additionalProperties": False}
LEAF = {
    "type": "object",
    "description": "Leaf.",
    "properties": {
        "at": {"type": "array", "prefixItems": [NUMBER, NUMBER], "minItems": 2, "maxItems": 2, "items": NUMBER},
        "what": {**ANYTHING, "default": 1},
    },
    "required": ["at"],
    "additionalProperties": False,
}
BRANCH = {
    "type": "object",
    "properties": {
        "left": {**LEAF, "description": "the left one"},
        "all": {"type": "array", "items": LEAF},
        "node": {"anyOf": [{"$ref": "#/$defs/Node"}, NULL], "default": None},
    },
    "required": ["left", "all"],
    "additionalProperties": False,
}
PROPERTIES = {
    "plain": [INT, NUMBER, BOOL, TEXT, {"type": "string", "contentEncoding": "base64"}, ANYTHING, NULL],
    "times": [{"type": "string", "format": one} for one in ("date", "date-time", "time")] + [{"anyOf": [SPAN, NUMBER]}],
    "texts": [{"type": "string", "format": "uuid"}, TEXT, {"type": "string", "format": "regex"}, {"type": "string", "format": "ipv4"}, {"anyOf": [TEXT, NUMBER]}],
    "chosen": [
        {"type": "string", "enum": ["prod", "DEV"]},
        {"type": "integer", "enum": [1]},
        {"anyOf": [{"type": "string", "enum": ["x"]}, {"type": "integer", "enum": [2]}]},
        {"anyOf": [{"type": "integer", "enum": [1]}, INT, TEXT]},
    ],
    "mixed": [
        {"anyOf": [{"type": "string", "enum": ["x", "y"]}, {"type": "integer", "enum": [1]}, {"type": "boolean", "enum": [True]}, NULL]},
        BOOL,
        {"anyOf": [{"type": "string", "enum": ["RED"]}, NULL]},
        {"anyOf": [{"type": "integer", "enum": [1, 2]}, INT, TEXT]},
        {"anyOf": [{"type": "integer", "enum": [1]}, NULL]},
    ],
    "branch": [BRANCH],
    "unions": [{"anyOf": [INT, NULL]}, {"anyOf": [INT, TEXT, NULL]}, {"anyOf": [SPAN, NUMBER, INT]}, ANYTHING],
    "nested": [
        {"type": "array", "items": INT},
        {"type": "array", "items": ANYTHING},
        {"type": "object", "additionalProperties": NUMBER},
        {"type": "object", "additionalProperties": BOOL},
        {"type": "object", "additionalProperties": INT},
        {"type": "array", "prefixItems": [INT, TEXT], "minItems": 2, "maxItems": 2, "items": {"anyOf": [INT, TEXT]}},
        {"type": "array", "items": INT},
        {"type": "array", "minItems": 0, "maxItems": 0, "items": ANYTHING},
    ],
    "node": [{"$ref": "#/$defs/Node"}],
    "two": [{"$ref": "#/$defs/Node"}, OTHER],
    "pair": [PAIR],
    "table": [{"type": "object", "properties": {"a": INT}}],
    "defaults": [
        {"type": "integer", "default": 1},
        {"type": "string", "default": "x"},
        {"type": "string", "enum": ["prod", "DEV"], "default": "prod"},
        {"type": "string", "format": "date", "default": "2024-01-02"},
        ANYTHING,
        {"anyOf": [INT, NULL], "default": None},
    ],
    "noted": [
        {"type": "integer", "description": "how many"},
        {"anyOf": [TEXT, NULL], "description": "what", "default": None},
        {"type": "integer", "description": "quoted", "default": 1},
    ],
    "every": [ANYTHING, ANYTHING, {"type": "array", "items": INT}, ANYTHING],
    "unknown": [ANYTHING],
    "nothing": [],
}
DEFS = {
    "node": {"Node": NODE},
    "two": {"Node": NODE},
    "branch": {"Node": NODE},
}
MODELS = '''
    import datetime
    from typing import Annotated, List, Optional
    from pydantic import BaseModel, Field
    def first():
        class Item(BaseModel):
            x: int = Field(gt=0, description="how many")
        return Item
    class Item(BaseModel):
        kids: List["Item"] = []
    Item.model_rebuild()
    First = first()
    class Made(BaseModel):
        when: datetime.date = Field(alias="at")
    def made() -> Made: pass
    def second(Part):
        class Item(BaseModel):
            kids: List["Item"] = []
            part: Optional[Part] = None
        Item.model_rebuild(_types_namespace={"Item": Item})
        return Item
    Second = second(First)
    def model(a: Item, b: First, c: Second): pass
    def limits(a: Annotated[int, Field(gt=0, le=10, description="a count")], b: str = Field("x", max_length=3, description="a text")): pass
    '''


RESULTS = '''
    import dataclasses, datetime, typing
    from typing import Any, Dict, Iterator, List, NamedTuple, Optional
    @dataclasses.dataclass
    class Node:
        name: str
        seed: dataclasses.InitVar[int]
        at: datetime.datetime = None
        next: Optional["Node"] = None
        size: int = dataclasses.field(init=False, default=0)
    @dataclasses.dataclass
    class Own:
        x: int
        def __json__(self): return [self.x]
    class Open(typing.TypedDict):
        a: int
        own: Own
    class Pair(NamedTuple):
        a: int
    def table() -> Dict[datetime.date, List[int]]: pass
    def plain() -> dict: pass
    def node() -> "Node": pass
    async def opened() -> Open: pass
    def none(): pass
    def text() -> str: pass
    def maybe() -> Optional[dict]: pass
    def many() -> List[dict]: pass
    def pair() -> Pair: pass
    def own() -> Own: pass
    def anything() -> Any: pass
    def unknown() -> "Nothing": pass
    def later() -> dict: yield {}
    def iterated() -> Iterator[dict]: pass
    '''
NODE = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "seed": {"type": "integer"},
        "at": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None},
        "next": {"anyOf": [{"$ref": "#/$defs/Node"}, {"type": "null"}], "default": None},
    },
    "required": ["name"],
}
OUTPUTS = {
    "table": {"type": "object", "additionalProperties": {"type": "array", "items": {"type": "integer"}}},
    "plain": {"type": "object"},
    "node": {"type": "object", "$ref": "#/$defs/Node", "$defs": {"Node": NODE}},
    "opened": {
        "type": "object",
        "properties": {"a": {"type": "integer"}, "own": {}},
        "required": ["a", "own"],
    },
}


class TestJSONSchema(Case):
    def schemas(self, source):
        kind, answer = self.start(source).ask("D", {"hook": "", "input": True})
        self.assertEqual(kind, "R", answer)
        return {hook["name"]: hook for hook in answer["hooks"]}

    def test_annotations(self):
        hooks = self.schemas(SOURCE)
        for name, want in PROPERTIES.items():
            with self.subTest(name):
                schema = hooks[name]["input_schema"]
                self.assertEqual(list(schema["properties"].values()), want)
                self.assertEqual(schema.get("$defs"), DEFS.get(name))
                self.assertEqual(schema["type"], "object")

    def test_parameters(self):
        hooks = self.schemas(SOURCE)
        every, nothing = hooks["every"]["input_schema"], hooks["nothing"]["input_schema"]
        self.assertEqual(list(every["properties"]), ["a", "b", "args", "c"])
        self.assertEqual(every["required"], ["a", "b", "c"])
        self.assertEqual(every["additionalProperties"], BOOL)
        self.assertEqual(nothing, {"type": "object", "properties": {}, "additionalProperties": False})
        self.assertEqual(hooks["Tool.use"]["documentation"], "Use it.\n\nIndented.")

    def test_only_if_asked(self):
        worker = self.start(SOURCE)
        self.assertNotIn("input_schema", worker.ask("D", {"hook": "", "input": False})[1]["hooks"][0])
        self.assertNotIn("input_schema", worker.ask("D", {"hook": "plain", "input": False})[1]["hooks"][0])
        self.assertIn("template", worker.ask("D", {"hook": "plain", "input": True})[1]["hooks"][0])
        self.assertIn("input_schema", worker.ask("D", {"hook": "plain", "input": True})[1]["hooks"][0])

    def test_results(self):
        """Checks that only a hook with an object as its annotated result has a schema of the result."""
        hooks = self.schemas(RESULTS)
        self.assertEqual({name: hook["output_schema"] for name, hook in hooks.items() if "output_schema" in hook}, OUTPUTS)

    def test_size(self):
        """Checks that classes are inlined if the schema stays small."""
        lines = ["import dataclasses", "@dataclasses.dataclass", "class C0:", "    x: int"]
        for n in range(1, 20):
            lines += ["@dataclasses.dataclass", "class C%d:" % n, "    a: C%d" % (n - 1), "    b: C%d" % (n - 1)]
        lines += ["def small(a: C3): pass", "def large(a: C19): pass"]
        hooks = self.schemas("\n".join(lines))
        self.assertNotIn("$defs", hooks["small"]["input_schema"])
        self.assertEqual(len(hooks["large"]["input_schema"]["$defs"]), 20)

    @unittest.skipUnless(importlib.util.find_spec("jsonschema"), "without jsonschema")
    def test_valid(self):
        """Checks that every schema is valid JSON Schema 2020-12."""
        from jsonschema import Draft202012Validator

        sources = (SOURCE, RESULTS) + ((MODELS,) if importlib.util.find_spec("pydantic") else ())
        for hook in (hook for source in sources for hook in self.schemas(source).values()):
            for key in {"input_schema", "output_schema"} & set(hook):
                with self.subTest(hook["name"] + " " + key):
                    Draft202012Validator.check_schema(hook[key])

    @unittest.skipUnless(importlib.util.find_spec("pydantic"), "without pydantic")
    def test_pydantic(self):
        hooks = self.schemas(MODELS)
        model, limits = hooks["model"]["input_schema"], hooks["limits"]["input_schema"]["properties"]
        self.assertEqual(model["properties"]["a"], {"$ref": "#/$defs/Item"})
        self.assertEqual(model["$defs"]["Item"]["properties"]["kids"]["items"], {"$ref": "#/$defs/Item"})
        self.assertEqual(model["properties"]["b"]["properties"]["x"]["exclusiveMinimum"], 0)
        other = model["properties"]["c"]["$ref"].rpartition("/")[2]
        self.assertEqual(model["$defs"][other]["properties"]["kids"]["items"], {"$ref": "#/$defs/" + other})
        self.assertNotEqual(model["$defs"][other], model["$defs"]["Item"])
        self.assertEqual(limits["a"], {"type": "integer", "exclusiveMinimum": 0, "maximum": 10, "description": "a count"})
        self.assertEqual(limits["b"], {"type": "string", "maxLength": 3, "description": "a text", "default": "x"})
        self.assertEqual(hooks["made"]["output_schema"]["properties"]["when"], {"format": "date", "title": "When", "type": "string"})


if __name__ == "__main__":
    unittest.main()
