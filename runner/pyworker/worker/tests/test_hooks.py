"""Tests which methods are hooks."""

import unittest

from client import Case


class Hooks(Case):
    def test_methods(self):
        """Checks that methods run on one object, made when first needed, and that methods of a library are not listed."""
        source = """
            import abc, asyncio, dataclasses, enum, functools, logging
            logger = logging.getLogger()
            count = 0
            class Base:
                def inherited(self): return type(self).__name__
            class Plain(Base, logging.Filterer):
                size = property(id)
                class Inner:
                    def get(self): return "inner"
                def __init__(self, start: int = 1):
                    global count
                    count += 1
                    self.value = start
                def add(self, n: int = 1) -> int:
                    "Adds."
                    self.value += n
                    return self.value
                async def later(self): return await asyncio.sleep(0, self.value)
                def items(self): yield from range(self.value)
                @functools.lru_cache()
                def cached(self, x): return x
                @staticmethod
                def static(x): return x
                @classmethod
                def kind(cls): return cls.__name__
                def _private(self): pass
            plain = Plain(10)
            class Fails:
                def __init__(self): raise ValueError("not now")
                def get(self): return 1
            @dataclasses.dataclass
            class Needy:
                x: int
                def get(self): return self.x
                @classmethod
                def make(cls): return cls(3).get()
            class Abstract(abc.ABC):
                @abc.abstractmethod
                def get(self): pass
            class Colour(enum.Enum):
                RED = 1
                def get(self): return 1
            class Two:
                def __init__(self, a, *rest, b, c=0): self.sum = a + b
                def get(self): return self.sum
            two = Two(1, b=2)
            def made(): return count
            """
        methods = ["%s.%s" % (one, two) for one in ("Plain", "plain") for two in "inherited add later items cached static kind".split()]
        listed = [*methods, "Base.inherited", "Fails.get", "Needy.make", "two.get", "made"]
        for calls in (None, "threads"):
            worker = self.start(source, calls=calls)
            answer = worker.ask("D", {"hook": "", "input": False})[1]
            hooks = answer["hooks"]
            needy = "`Needy` cannot be created without `x`: its methods are not hooks; create an object, as with `needy = Needy(…)`"
            self.assertEqual(answer["notes"], [needy])
            self.assertEqual(sorted(hook["name"] for hook in hooks), sorted(listed))
            for hook in hooks:
                if hook["name"] in ("Plain.add", "plain.add"):
                    params = [{"name": "n", "required": False, "kind": "ordinary", "type": "int", "default": "1"}]
                    (one,) = worker.ask("D", {"hook": hook["name"], "input": False})[1]["hooks"]
                    self.assertEqual({key: one[key] for key in hook}, hook)
                    self.assertEqual(hook, {"name": hook["name"], "params": params, "doc": "Adds.", "returns": "int"})
                elif hook["name"] in ("Plain.cached", "plain.cached"):
                    self.assertEqual([param["name"] for param in hook["params"]], ["x"])
            self.ok(worker.call("made"), 1)
            for name, args, value in (
                ("Plain.add", [], 2),
                ("Plain.add", [2], 4),
                ("Plain.later", [], 4),
                ("plain.add", [1], 11),
                ("Plain.cached", [5], 5),
                ("Plain.static", [6], 6),
                ("Plain.kind", [], "Plain"),
                ("Plain.inherited", [], "Plain"),
                ("Plain.Inner.get", [], "inner"),
                ("Needy.make", [], 3),
                ("made", [], 2),
            ):
                self.ok(worker.call(name, *args), value)
            self.assertEqual(worker.stream(worker.begin("Plain.items"))[0], [0, 1, 2, 3])
            self.refused(worker.call("Plain.add", 1, 2), "arguments")
            frames = self.refused(worker.call("Fails.get"), "raised")["python"]["frames"]
            self.assertEqual([frame["function"] for frame in frames], ["__init__"])
            for name, why in (
                ("Needy.get", "`Needy` cannot be created without `x`"),
                ("Abstract.get", "`Abstract` is abstract"),
                ("Colour.get", "`Colour` is an enum"),
                ("Two.get", "`Two` cannot be created without `a` and `b`"),
            ):
                self.assertEqual(self.refused(worker.call(name), "hook")["why"], "`get` is a method, and " + why)
            self.ok(worker.call("two.get"), 3)
            self.assertIn("not callable", self.refused(worker.call("Plain.size"), "hook")["why"])

    def test_decorated(self):
        """Checks that a decorator's result is a hook if it is callable, unless it is a command of click."""
        worker = self.start(
            """
            class Command:
                def __init__(self, callback): self.callback = self.func = callback
                def make_context(self): pass
                def make_parser(self): pass
                def __call__(self): raise SystemExit(2)
            class Tool:
                def __init__(self, func): self.func = func
            @Command
            def command(n: int): return n
            @Tool
            def tool(n: int): return n
            """
        )
        why = {"command": "`command` is a command of click, which reads a command line", "tool": "`tool` is not callable"}
        for name in why:
            answer = self.refused(worker.call(name), "hook")
            self.assertEqual((answer["why"], answer.get("program")), (why[name], name == "command" or None))
            self.ok(worker.call(name + ".func", 3), 3)
        names = [hook["name"] for hook in worker.ask("D", {"hook": "", "input": False})[1]["hooks"]]
        self.assertEqual([name for name in names if name in why], [])

    def test_probe(self):
        source = "class Service:\n    def healthy(self): return 'not ' + type(self).__name__\n"
        self.ok(self.start(source, probe="Service.healthy").ask("P"), {"degraded": "not Service"})


if __name__ == "__main__":
    unittest.main()
