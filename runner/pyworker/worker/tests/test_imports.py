"""Tests which further modules a plugin lacks after an import did not find one."""

import os

from client import COUNT, SCRATCH, Case, Worker, write


class Imports(Case):
    def unfound(self, files, plugin="plug", name=""):
        """Starts the plugin among files, and returns the modules that it lacks, each with its file and line."""
        if isinstance(files, str):
            files = {plugin: files}
        root = os.path.realpath(os.path.join(SCRATCH, "%s-%d" % (self.id(), next(COUNT))))
        for path, text in files.items():
            write(os.path.join(root, path + ".py"), text)
        worker = Worker(os.path.join(root, plugin + ".py"), name=name)
        unfound = worker.ready[2]["unfound"]
        worker.stop()
        worker.errors.seek(0)
        self.assertEqual(worker.errors.read(), b"")
        worker.errors.close()
        return " ".join("%s:%s:%d" % (one["module"], one["file"][len(root) + 1 : -3], one["line"]) for one in unfound)

    def test_forms(self):
        for text, want in (
            ("import zz_a", "zz_a:plug:1"),
            ("import zz_a as a, zz_b", "zz_a:plug:1 zz_b:plug:1"),
            ("import zz_a.b.c", "zz_a.b.c:plug:1"),
            ("from zz_a.b import c as d, e", "zz_a.b:plug:1"),
            ("from zz_a import (\n    b,  # c\n    d,\n)\nimport zz_b", "zz_a.b:plug:1 zz_b:plug:5"),
            ("import \\\n    zz_a\nx = 1; import zz_b", "zz_a:plug:1 zz_b:plug:3"),
            ("import zz_a\n'''\nimport zz_b\n'''\n# import zz_c\nx = 'import zz_d'", "zz_a:plug:1"),
            ("import zz_a\nimport os.path, json, collections.abc\nfrom sys import version\nimport sys, __main__, __future__", "zz_a:plug:1"),
            ("import zz_a\ndef f(): import zz_b\nif f: import zz_c\nclass A: import zz_d\nfor x in []: import zz_e", "zz_a:plug:1"),
            ("import zz_a\ntry: import zz_b\nexcept ImportError: import zz_c\nif TYPE_CHECKING: import zz_d\nimport zz_e", "zz_a:plug:1 zz_e:plug:5"),
            ("import zz_a\ntry:\n    import zz_b\nfinally:\n    import zz_c", "zz_a:plug:1 zz_b:plug:3 zz_c:plug:5"),
            ("try: import zz_a\nexcept ImportError as e: raise ImportError('install it') from e\nimport zz_b", "zz_b:plug:3"),
            ("try: import zz_a\nexcept ImportError: pass\nimport zz_b", "zz_b:plug:3"),
        ):
            self.assertEqual((text, self.unfound(text)), (text, want))

    def test_own_files(self):
        """Checks that the plugin's own files are followed in the order of execution, even files that had run in part."""
        for files, want in (
            (
                {"plug": "import b\nimport a\nimport zz_a", "a": "import b\nimport zz_b\nimport c", "b": "", "c": "import zz_c\nimport plug"},
                "zz_b:a:2 zz_c:c:1 zz_a:plug:3",
            ),
            (
                {
                    "plug": "import zz_a\nimport p.q\nfrom n.deep import m\nfrom p import r", "p/__init__": "import zz_b\nfrom . import s",
                    "p/q": "from .r import x", "p/r": "import zz_c", "p/s": "import zz_d", "n/deep/m": "from ..deep import x\nimport zz_e",
                },
                "zz_a:plug:1 zz_b:p/__init__:1 zz_d:p/s:1 zz_c:p/r:1 zz_e:n/deep/m:2",
            ),
        ):
            self.assertEqual(self.unfound(files), want)

    def test_in_a_package(self):
        """Checks that a file's packages come before the file."""
        files = {"p/__init__": "import zz_a\nfrom .a import x", "p/a": "import zz_b", "p/plug": "from . import a\nimport zz_c"}
        self.assertEqual(self.unfound(files, "p/plug", "p.plug"), "zz_a:p/__init__:1 zz_b:p/a:1 zz_c:p/plug:2")

    def test_unsure(self):
        """Checks that modules that may be found after all are omitted."""
        for text in (
            "import sys\nsys.path.append('x')", "from sys import path\npath.append('x')", "import sys\nsys.modules['zz_b'] = sys",
            "def f(): __path__.append('x')", "import pyximport", "x = 'pip install'", "import a", "import b",
        ):
            files = {"plug": "import zz_a\n" + text + "\nimport zz_b", "a": "import site\nsite.addsitedir('x')", "b": "x = ("}
            self.assertEqual((text, self.unfound(files)), (text, "zz_a:plug:1"))
        files = {"plug": "import sys\nsys.path[:0] = [__file__[:-7] + 'lib']\nimport a\nimport zz_a\nimport zz_b", "lib/a": ""}
        self.assertEqual(self.unfound(files), "zz_a:plug:4 zz_b:plug:5")

    def test_much(self):
        """Checks that the size of the files that are read is limited."""
        files = {"plug": "import zz_a\nimport a\nimport zz_b", "a": "# " + "x" * (128 << 10)}
        self.assertEqual(self.unfound(files), "zz_a:plug:1")
