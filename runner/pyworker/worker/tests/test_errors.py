"""Tests how exceptions are reported, in calls and while the file is loaded."""

import os
import sys
import unittest

from client import SCRATCH, Case, Worker, write
from test_worker import PLUGIN


class Errors(Case):
    PLUGIN = PLUGIN

    def test_raised(self):
        answer = self.refused(self.worker.call("fails", "why"), "raised")
        python = answer["python"]
        self.assertEqual((python["type"], python["message"]), ("ValueError", "why"))
        self.assertEqual([frame["function"] for frame in python["frames"]], ["fails"])
        self.assertEqual(python["frames"][0]["file"], os.path.realpath(os.path.join(SCRATCH, "Errors", "plug.py")))
        self.assertEqual([frame["function"] for frame in python["cause"]["frames"]], ["fails", "inner"])
        self.assertNotIn("group", python)

    def test_all_are_answers(self):
        for name, kind, message in (
            ("base", "BaseException", "base"),
            ("memory", "MemoryError", "much"),
            ("own_interrupt", "KeyboardInterrupt", "mine"),
            ("exits", "SystemExit", "2"),
            ("odd", "Odd", "<Odd that cannot be printed>"),
            ("noted", "ValueError", "first\nsecond\n3"),
        ):
            python = self.refused(self.worker.call(name), "raised")["python"]
            self.assertEqual((python["type"], python["message"]), (kind, message))

    def test_missing(self):
        """Checks that an answer names a module that a hook failed to import, if the module does not exist."""
        worker = self.start(
            """
            def imports(): import nosuch.part
            def within(): import json.nosuch
            def wrapped():
                try: import nosuch
                except ImportError as error: raise ImportError("install it") from error
            def invented(): raise ModuleNotFoundError("x", name="json")
            def unnamed(): raise ModuleNotFoundError("x", name="")
            def own_cause():
                error = ImportError("x")
                raise error from error
            """
        )
        for name, want in (
            ("imports", "nosuch"),
            ("within", "json.nosuch"),
            ("wrapped", "nosuch"),
            ("invented", None),
            ("unnamed", ""),
            ("own_cause", None),
        ):
            self.assertEqual((name, self.refused(worker.call(name), "raised").get("missing")), (name, want))

    def test_own_frames(self):
        """Checks that frames of the standard library are omitted, also between frames of the file."""
        worker = self.start(
            """
            import json
            class Key:
                def __lt__(self, other): return json.loads("{")
            def nested(): return sorted([Key(), Key()])
            def through(): return json.dumps({"a": object()}, default=lambda value: nested())
            """
        )
        python = self.refused(worker.call("through"), "raised")["python"]
        functions = [frame["function"] for frame in python["frames"]]
        self.assertEqual(functions, ["through", "<lambda>", "nested", "__lt__"])

    def test_exit_with_success(self):
        """Checks that an exit with status 0 is a null result or ends a stream, in the main thread and in threads."""
        for calls in (None, "threads"):
            worker = self.start(
                """
                import sys
                def plain(code): sys.exit(code)
                def stream(code): yield 1; sys.exit(code)
                async def coroutine(code): sys.exit(code)
                async def astream(code): yield 1; sys.exit(code)
                def health(): sys.exit(0)
                """,
                calls=calls,
            )
            for name in ("plain", "stream", "plain", "coroutine", "astream", "stream", "plain"):
                for code in (0, None, False):
                    if "stream" in name:
                        self.assertEqual(worker.stream(worker.begin(name, code)), ([1], "Z", None), name)
                    else:
                        self.ok(worker.call(name, code), None)
                if "stream" not in name:
                    for code in (1, "0", 0.0):
                        self.assertEqual(self.refused(worker.call(name, code), "raised")["python"]["type"], "SystemExit")
            self.ok(worker.ask("P"), None)

    def test_odd_types(self):
        """Checks that an exception is described even if the code of its class raises."""
        worker = self.start(
            """
            class Meta(type):
                __module__ = __name__ = property(lambda self: 1 / 0)
            class Named(Exception, metaclass=Meta): pass
            class Grouped(Exception): exceptions = property(lambda self: 1 / 0)
            def fails(kind): raise globals()[kind]("boom")
            """
        )
        for kind, message in (("Named", "boom"), ("Grouped", "")):
            python = self.refused(worker.call("fails", kind), "raised")["python"]
            self.assertEqual((python["type"], python["message"]), (kind, message))
            self.assertEqual([frame["function"] for frame in python["frames"]], ["fails"])

    def test_bounded(self):
        python = self.refused(self.worker.call("recursive"), "raised")["python"]
        self.assertEqual((python["type"], len(python["frames"])), ("RecursionError", 1))
        self.assertGreater(python["frames"][0]["repeated"], 500)
        python = self.refused(self.worker.call("cyclic"), "raised")["python"]
        self.assertEqual((python["cause"]["message"], "cause" in python["cause"]), ("b", False))

    def test_folded(self):
        """Checks that repeated frames are listed once, with their number, and that a long list omits its middle."""
        worker = self.start(
            """
            def down(n): return down(n - 1) if n else 1 / 0
            def even(n): return odd(n - 1)
            def odd(n):
                return even(n - 1) if n > 0 else down(1)
            def walk(n):
                if n % 3: return walk(n - 1)
                if n: return walk(n - 1)
                1 / 0
            def long(n):
                exec("\\n" * n + "long(n - 1) if n else 1 / 0")
            """
        )
        for name, count, want in (
            ("down", 0, [("down", None, None)]),
            ("down", 2, [("down", None, None)] * 3),
            ("down", 99, [("down", 99, None)]),
            ("even", 199, [("even", None, None), ("odd", 99, 2), ("down", None, None), ("down", None, None)]),
            ("walk", 99, [("walk", None, None)] * 2 + [("walk", 32, 3), ("walk", None, None)]),
        ):
            frames = self.refused(worker.call(name, count), "raised")["python"]["frames"]
            self.assertEqual([(one["function"], one.get("repeated"), one.get("cycle")) for one in frames], want)
        frames = self.refused(worker.call("long", 60), "raised")["python"]["frames"]
        self.assertEqual((len(frames), frames[1]["line"], frames[-1]["line"]), (50, 61, 1))

    def test_group_of_any_kind(self):
        """Checks that an exception with a tuple or list named exceptions is a group, as in backports."""
        worker = self.start(
            """
            class Group(Exception):
                def __init__(self, members): self.exceptions = members
            def fails(): raise Group([ValueError("a"), Group((KeyError("b"), 3))]) from OSError("c")
            """
        )
        python = self.refused(worker.call("fails"), "raised")["python"]
        self.assertEqual([one["type"] for one in python["group"]], ["ValueError", "Group"])
        self.assertEqual([one["message"] for one in python["group"][1]["group"]], ["'b'"])
        self.assertEqual(python["cause"]["message"], "c")

    @unittest.skipIf(sys.version_info < (3, 11), "exception groups came with Python 3.11")
    def test_group(self):
        python = self.refused(self.worker.call("group"), "raised")["python"]
        self.assertEqual([member["message"] for member in python["group"]], ["one", "two"])

    def test_load(self):
        for text, message, more in (
            ("import no_such.part", "No module named 'no_such'", {"missing": "no_such"}),
            (
                "try:\n  import no_such\nexcept ImportError as e:\n  raise ImportError('install it') from e",
                "install it",
                {"missing": "no_such"},
            ),
            ("import os.no_such", "No module named 'os.no_such'; 'os' is not a package", {"missing": "os.no_such"}),
            ("from os import no_such", None, {}),
            ("import sys; sys.exit(3)", "3", {}),
            ("1/0", "division by zero", {}),
            ("raise KeyboardInterrupt", "", {}),
        ):
            kind, number, answer = self.start(text).ready
            self.assertEqual(
                (kind, number, answer["reason"], answer.get("missing")), ("E", 0, "load", more.get("missing"))
            )
            if message is not None:
                self.assertEqual(answer["python"]["message"], message)
            self.assertEqual([frame["function"] for frame in answer["python"]["frames"]], ["<module>"])

    def test_syntax_error(self):
        worker = self.start("x = 1\nif x:\n    y = = 2\n")
        python = worker.ready[2]["python"]
        frame = python["frames"][0]
        self.assertEqual(
            (python["type"], python["message"], len(python["frames"])), ("SyntaxError", "invalid syntax", 1)
        )
        self.assertEqual((frame["line"], frame["text"], frame["column"]), (3, "    y = = 2", 9))
        self.assertTrue(frame["file"].endswith("plug.py"))
        self.assertEqual(worker.close(), 0)

    def test_missing_file(self):
        worker = Worker(os.path.join(SCRATCH, "no", "such.py"))
        self.assertEqual((worker.ready[2]["reason"], worker.stop()), ("load", 0))
        worker.errors.close()

    def test_interrupted_import(self):
        path = write(
            self.id() + "/plug.py", "import os, time\nos.write(int(os.environ['MARKER']), b'.')\ntime.sleep(60)"
        )
        worker = Unready(path)
        worker.wait_mark()
        self.assertEqual(worker.interrupted(0)[1]["python"]["type"], "KeyboardInterrupt")
        worker.stop()
        worker.errors.close()


class Descriptors(Case):
    """Tests hooks that use up the worker's descriptors, or close them."""

    TEXT = """
import os, resource
taken = []
def limit(number):
    resource.setrlimit(resource.RLIMIT_NOFILE, (number, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
def fails(number):
    limit(number)
    open(os.devnull, "rb")
def leaks():
    limit(300)
    while True: taken.append(os.open(os.devnull, os.O_RDONLY))
def frees():
    while taken: os.close(taken.pop())
def echo(x): return x
def stream(): yield {1}
def standard_input(): return os.path.samestat(os.fstat(0), os.stat(os.devnull))
async def coroutine(): return 1
def closes(first, last): os.closerange(first, last)
async def acloses(first, last): os.closerange(first, last)
"""

    def test_used_up(self):
        for name, args, function in (("fails", [3], "fails"), ("leaks", [], "leaks")):
            worker = self.start(self.TEXT)
            python = self.refused(worker.call(name, *args), "raised")["python"]
            self.assertEqual([frame["function"] for frame in python["frames"]], [function])
            self.assertIn("[Errno 24]", python["message"])
            self.refused(worker.call("nope"), "hook")
            self.assertEqual(worker.stream(worker.begin("stream")), ([[1]], "Z", None))
            self.ok(worker.call("standard_input"), True)
            self.assertIn("[Errno 24]", self.refused(worker.call("coroutine"), "raised")["python"]["message"])
            worker.call("frees")
            worker.call("limit", 300)
            self.ok(worker.call("coroutine"), 1)
            self.assertEqual(worker.stop(), 0)

    def test_none_at_all(self):
        worker = self.start(self.TEXT)
        python = self.refused(worker.call("fails", 0), "raised")["python"]
        self.assertEqual([frame["function"] for frame in python["frames"]], ["fails"])
        self.assertIn("[Errno 24]", python["message"])
        self.refused(worker.call("nope"), "hook")
        self.assertIn("[Errno 24]", self.refused(worker.call("coroutine"), "raised")["python"]["message"])
        self.ok(worker.call("limit", 300), None)
        self.ok(worker.call("coroutine"), 1)
        self.assertEqual(worker.stop(), 0)

    def test_closed(self):
        """Checks that a worker exits as Python does if the plugin has closed its descriptors."""
        for name, first, last in (("closes", 3, 1000), ("acloses", 3, 1000), ("closes", 201, 1000), ("acloses", 201, 1000), ("acloses", 3, 100)):
            worker = self.start(self.TEXT)
            number = worker.begin(name, first, last)
            if last < 200:  # closes only descriptors of the event loop
                self.ok(worker.answer(number), None)
            self.assertIsNone(worker.receive())
            with self.subTest(name, first=first):
                self.assertEqual(worker.close(), 1)
                self.assertIn("[Errno 9]", worker.stderr())


class Unready(Worker):
    """Runs a worker, and leaves it to the test to receive the answer to load."""

    def receive(self):
        if not hasattr(self, "hello"):
            return super().receive()
        if not hasattr(self, "ready"):
            return None
        return super().receive()


if __name__ == "__main__":
    unittest.main()
