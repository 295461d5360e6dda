"""Tests defaults that describe a parameter, and types of the standard library that are parsed from text."""

import unittest

from client import Case

PLUGIN = """
import fractions, ipaddress, re, types
from fractions import Fraction
from typing import *

class Option:
    "As typer and pydantic have it."
    def __init__(self, default=..., default_factory=None):
        self.default, self.default_factory = default, default_factory
class Depends:
    "As FastAPI has it."
    dependency = len
class Own: pass
class Settings:
    default = 5
calls = []
def make():
    calls.append(1)
    return len(calls)

def option(loud: bool = Option(False), name=Option("x"), *rest, n: int = Option(None)): return [loud, name, rest, n]
def required(name: str = Option()): return name
def depends(x: int, made=Depends()): return x
def by_position(a: int = Option(1), b: int = Option(2), /, c: int = Option(3)): return [a, b, c]
def factory(n: int = Option(default_factory=make)): return n
def settings(own=Settings()): return own.default
async def later(n: int = Option(4)): return n

def texts(ip: ipaddress.IPv4Address, network: ipaddress.IPv6Network, pattern: re.Pattern, fraction: Fraction):
    return [type(one).__name__ for one in (ip, network, pattern, fraction)] + [ip, network, pattern, fraction]
def fraction(value: Fraction): return value

def noted(a: Own, b: List[Own], c: "Optional[Own]", d: Any, e: object, f: dict, g: List[int], h: "int", i, j: types.ModuleType = None): pass
"""


class Defaults(Case):
    PLUGIN = PLUGIN

    def test_described(self):
        """Checks that the function gets the value in a default that describes the parameter, for JSON and for words."""
        for worker in (self.start(PLUGIN), self.start(PLUGIN, calls="threads")):
            for hook, args, kwargs, value in (
                ("option", [], {}, [False, "x", [], None]),
                ("option", [True], {"n": 5}, [True, "x", [], 5]),
                ("option", [True, "y", "z"], {}, [True, "y", ["z"], None]),
                ("option", [], {"name": "z"}, [False, "z", [], None]),
                ("required", ["a"], {}, "a"),
                ("by_position", [], {}, [1, 2, 3]),
                ("by_position", [7], {"c": 9}, [7, 2, 9]),
                ("settings", [], {}, 5),
                ("later", [], {}, 4),
            ):
                words = [{"text": str(one)} for one in args] + [{"name": name, "text": str(one)} for name, one in kwargs.items()]
                for found in (worker.call(hook, *args, **kwargs), worker.ask("C", {"hook": hook, "words": words})):
                    self.ok(found, value)
            first = worker.call("factory")[1]
            self.ok(worker.call("factory"), first + 1)
            for hook, args in (("required", []), ("depends", [1])):
                self.assertIn("is missing", self.refused(worker.call(hook, *args), "arguments")["message"])
            self.assertIn("expected bool", self.refused(worker.call("option", "x"), "arguments")["message"])

    def test_listed(self):
        hooks = {hook["name"]: hook["params"] for hook in self.worker.ask("D", {"hook": "", "input": False})[1]["hooks"]}
        self.assertEqual([one.get("default") for one in hooks["option"]], ["False", "'x'", None, "None"])
        self.assertEqual([(one["required"], one.get("default")) for one in hooks["required"]], [(True, None)])
        self.assertEqual([one["required"] for one in hooks["depends"]], [True, True])
        self.assertEqual(self.worker.ask("D", {"hook": "option", "input": False})[1]["hooks"][0]["template"], {"loud": False, "name": "x", "n": None})

    def test_texts(self):
        values = ["1.2.3.4", "2001:db8::/32", "a+", "1/3"]
        self.ok(self.worker.call("texts", *values), ["IPv4Address", "IPv6Network", "Pattern", "Fraction", *values])
        for value, text in ((2, "2"), ("0.50", "1/2"), ("1e2", "100")):
            self.ok(self.worker.call("fraction", value), text)
        self.ok(self.worker.ask("C", b'{"hook": "fraction", "args": [0.1]}'), "1/10")
        for index, value, message in (
            (0, "1.2.3", 'ip is "1.2.3", expected an IPv4Address: '),
            (1, "::1/8", 'network is "::1/8", expected an IPv6Network: '),
            (2, "(", 'pattern is "(", expected a regular expression: '),
            (3, "1/0", 'fraction is "1/0", expected a fraction'),
        ):
            args = values[:index] + [value] + values[index + 1 :]
            self.assertIn(message, self.refused(self.worker.call("texts", *args), "arguments")["message"])

    def test_noted(self):
        """Checks that a class without a conversion is named, wherever it is in an annotation."""
        for params in (self.worker.ask("D", {"hook": "noted", "input": False})[1]["hooks"][0]["params"] for _ in range(2)):
            why = {one["name"]: one["unresolved"] for one in params if "unresolved" in one}
            self.assertEqual(set(why), set("abcj"))
            self.assertEqual(why["a"], "nothing converts to Own")


if __name__ == "__main__":
    unittest.main()
