"""Tests the module that the user's file becomes: its name, its place and its byte code."""

import os
import time
import unittest

from client import LIMIT, SCRATCH, Case, Worker, write

SELF = """
import pickle, sys, dataclasses
class Thing: pass
@dataclasses.dataclass
class Data:
    x: int = 1
def name(): return __name__
def paths(): return [path for path in sys.path if path.startswith(%r)]
def same():
    module = sys.modules[__name__]
    copy = pickle.loads(pickle.dumps(Thing()))
    again = __import__(__name__, fromlist=["x"])
    return [type(copy) is Thing, again is module, module.__spec__.name == __name__, module.__file__ == __spec__.origin, bool(__cached__)]
if __name__ == "__main__":
    raise SystemExit("run as a script")
""" % os.path.realpath(SCRATCH)


class Identity(Case):
    def at(self, path, text=SELF, name=""):
        """Starts a worker on a file below this test's directory."""
        write(os.path.join(self.id(), path), text)
        return self.started(path, name)

    def started(self, path, name=""):
        worker = Worker(os.path.join(SCRATCH, self.id(), path), name=name)
        self.addCleanup(worker.errors.close)
        self.addCleanup(worker.stop)
        self.assertEqual(worker.ready[0], "Y", worker.ready)
        return worker

    def directory(self, *parts):
        return os.path.realpath(os.path.join(SCRATCH, self.id(), *parts))

    def check(self, worker, name, *path):
        self.assertEqual(worker.ready[2], {"module": name})
        self.ok(worker.call("name"), name)
        self.ok(worker.call("same"), [True] * 5)
        self.ok(worker.call("paths"), list(path))

    def test_plain_names(self):
        for stem in ("plug", "with-dash", "ünï", "test", "setup", "plugin2"):
            self.check(self.at(stem + ".py"), stem, self.directory())

    def test_names_that_are_taken(self):
        text = "import json, types, random\n" + SELF
        library = "\ndef library(name): return __import__(name).__file__ != __file__\n"
        for stem, name in (
            ("json", "_plugin_json"),
            ("types", "_plugin_types"),
            ("random", "_plugin_random"),
            ("__main__", "_plugin_main"),
        ):
            worker = self.at(os.path.join(stem, stem + ".py"), text + library)
            self.check(worker, name, self.directory(stem))
            if stem != "__main__":
                self.ok(worker.call("library", stem), True)
        self.check(self.at("with.dots.py"), "_plugin_with_dots", self.directory())

    def test_package_member(self):
        for name in ("pkg/__init__.py", "pkg/sub/__init__.py"):
            write(os.path.join(self.id(), name), "loaded = __name__\n")
        write(os.path.join(self.id(), "pkg/sibling.py"), "value = 5\n")
        text = (
            "from ..sibling import value\nfrom . import loaded\nimport pkg.sub.mod as me\n"
            + SELF
            + "def both(): return [value, loaded]\n"
        )
        worker = self.at("pkg/sub/mod.py", text, "pkg.sub.mod")
        self.check(worker, "pkg.sub.mod", self.directory(), self.directory("pkg", "sub"))
        self.ok(worker.call("both"), [5, "pkg.sub"])

    def test_package_that_imports_its_member(self):
        write(os.path.join(self.id(), "pkg/__init__.py"), "from .mod import name\n")
        worker = self.at(
            "pkg/mod.py",
            SELF
            + "import builtins\nbuiltins.loads = getattr(builtins, 'loads', 0) + 1\ndef loads(): return builtins.loads\n",
            "pkg.mod",
        )
        self.check(worker, "pkg.mod", self.directory(), self.directory("pkg"))
        self.ok(worker.call("loads"), 1)

    def test_package(self):
        write(os.path.join(self.id(), "pkg/part.py"), "value = 6\n")
        text = SELF + "from .part import value\ndef part(): return value\n"
        for path in ("pkg/__init__.py", "pkg"):
            if path == "pkg":
                worker = self.started(path, "pkg")
            else:
                worker = self.at(path, text, "pkg")
            self.check(worker, "pkg", self.directory(), self.directory("pkg"))
            self.ok(worker.call("part"), 6)

    def test_package_of_submodules(self):
        """Checks that hooks include imports from the package's own modules, and not imports from elsewhere."""
        for name, text in (
            ("pkg/part.py", "import functools\nfrom helper import helped\ndef f(x): return x\n@functools.lru_cache()\ndef cached(): return 2\n"
             "class Service:\n    def get(self): return 3\nservice = Service()\ndef _private(): pass\n"),
            ("pkg/sub/__init__.py", "from .deep import deep\n"),
            ("pkg/sub/deep.py", "async def deep(): return 4\n"),
            ("helper.py", "def helped(): pass\n"),
            ("pkgs.py", "def near(): pass\n"),
        ):
            write(os.path.join(self.id(), name), text)
        worker = self.at(
            "pkg/__init__.py",
            "from os import getcwd\nfrom helper import helped\nfrom pkgs import near\nfrom .part import *\nfrom .part import _private\n"
            "from . import part\nfrom .sub import deep as renamed\nfrom .part import f as g\ndef own(): return 5\n",
            "pkg",
        )
        for name, args, value in (("f", [1], 1), ("cached", [], 2), ("service.get", [], 3), ("renamed", [], 4), ("g", [6], 6), ("own", [], 5)):
            self.ok(worker.call(name, *args), value)
        for name in ("getcwd", "helped", "near", "_private", "part", "part.f", "Service", "deep"):
            hooks = self.refused(worker.call(name), "hook")["hooks"]
        self.assertTrue({"f", "cached", "renamed", "g", "own"} <= set(hooks), hooks)
        self.assertFalse({"getcwd", "helped", "near", "part"} & set(hooks), hooks)

    def test_package_named_like_the_library_s(self):
        write(os.path.join(self.id(), "email/__init__.py"), "mine = 1\n")
        worker = self.at("email/mod.py", "from . import mine\nimport email.message\n" + SELF, "email.mod")
        self.check(worker, "_plugin_email.mod", self.directory(), self.directory("email"))

    def test_symlink(self):
        write(os.path.join(self.id(), "real/plug.py"), SELF)
        os.symlink("real/plug.py", os.path.join(SCRATCH, self.id(), "link.py"))
        self.check(self.started("link.py"), "plug", self.directory("real"))

    def test_safe_path(self):
        write(os.path.join(self.id(), "plug.py"), SELF)
        worker = Worker(
            os.path.join(SCRATCH, self.id(), "plug.py"), env={"PYTHONSAFEPATH": "1", "PYTHONPATH": "/nowhere"}
        )
        self.addCleanup(worker.errors.close)
        self.addCleanup(worker.stop)
        self.check(worker, "plug", self.directory())

    def test_edit_within_a_second(self):
        path = os.path.join(SCRATCH, self.id(), "plug.py")
        os.makedirs(os.path.dirname(path))
        second = int(time.time()) + LIMIT  # later than any start of the test
        for value in (1, 2, 3):
            with open(path, "w", encoding="utf-8") as file:
                file.write("def value(): return %d\n" % value)
            os.utime(path, (second, second))
            worker = self.started("plug.py")
            self.ok(worker.call("value"), value)
        self.assertFalse(os.path.exists(self.directory("__pycache__")))

    def test_helpers_edited_within_a_second(self):
        for name in ("plug.py", "pkg/plug.py"):
            write(os.path.join(self.id(), "pkg/__init__.py"), "")
            write(os.path.join(self.id(), "pkg/part.py"), "")
            text = "from pkg.part import value as part\nfrom helper import value\ndef both(): return [value, part]\n"
            write(os.path.join(self.id(), name), text)
            second = int(time.time()) + LIMIT
            for value in (1, 2, 3):
                for helper in ("helper.py", "pkg/helper.py", "pkg/part.py"):
                    path = write(os.path.join(self.id(), helper), "value = %d\n" % value)
                    os.utime(path, (second, second))
                module = "pkg.plug" if "/" in name else ""
                self.ok(self.started(name, module).call("both"), [value, value])

    def test_byte_code_of_old_files_is_kept(self):
        self.at("plug.py")
        if not os.environ.get("PYTHONDONTWRITEBYTECODE"):
            self.assertEqual(len(os.listdir(self.directory("__pycache__"))), 1)

    def test_loader_of_the_plugin(self):
        """Checks a loader of the plugin, derived from Python's, whose modules are not files."""
        path = write(
            os.path.join(self.id(), "plug.py"),
            """
import importlib.machinery, importlib.util, os
class Loader(importlib.machinery.SourceFileLoader):
    def path_stats(self, path): return {"mtime": 1, "size": 9}
    def get_data(self, path):
        if path.endswith(".pyc"): raise OSError("there is none")
        return b"value = 7"
made = Loader("made", os.path.join(os.path.dirname(__file__), "none", "made.py"))
module = importlib.util.module_from_spec(importlib.util.spec_from_loader("made", made))
made.exec_module(module)
def value(): return module.value
""",
        )
        worker = Worker(path, env={"PYTHONDONTWRITEBYTECODE": ""})
        self.addCleanup(worker.errors.close)
        self.addCleanup(worker.stop)
        self.ok(worker.call("value"), 7)

    def test_replaced_module(self):
        """Checks that hooks come from the object that replaces the module in sys.modules."""
        worker = self.at("plug.py", "import sys, types\ndef a(x): return [x, __name__]\nsys.modules[__name__] = types.SimpleNamespace(a=a, n=1)")
        self.assertEqual(worker.ready[2], {"module": "plug"})
        self.ok(worker.call("a", 1), [1, "plug"])
        self.refused(worker.call("n"), "hook")

    def test_failed_import_leaves_nothing(self):
        path = write(
            os.path.join(self.id(), "plug.py"),
            "import atexit, sys\natexit.register(lambda: print('plug' in sys.modules))\n1/0",
        )
        worker = Worker(path)
        worker.stop()
        self.assertEqual(worker.stderr(), "False\n")
        worker.errors.close()


if __name__ == "__main__":
    unittest.main()
