"""Tests which files the worker reports as the plugin's own."""

import os
import unittest

from client import SCRATCH, Case, Worker, write


class Files(Case):
    def worker_of(self, **files):
        """Starts a worker with plug.py among other files. A double underscore in a name is a path separator."""
        for name, text in files.items():
            write(os.path.join(self.id(), name.replace("__", "/") + ".py"), text)
        worker = Worker(os.path.join(SCRATCH, self.id(), "plug.py"))
        self.addCleanup(worker.errors.close)
        self.addCleanup(worker.stop)
        return worker

    def names(self, files):
        root = os.path.join(os.path.realpath(SCRATCH), self.id())
        return sorted(os.path.relpath(file, root) for file in files)

    def test_loaded(self):
        worker = self.worker_of(
            plug="import json, helper\ndef late():\n    import other, decimal\n",
            helper="",
            other="",
            unused="",
        )
        self.assertEqual(self.names(worker.files), ["helper.py", "plug.py"])
        self.ok(worker.call("late"), None)
        self.assertEqual(self.names(worker.files), ["helper.py", "other.py", "plug.py"])

    def test_installed(self):
        """Checks that installed packages below the plugin are not reported."""
        worker = self.worker_of(
            plug="import sys\nsys.path.append(__file__[:-7] + 'env/site-packages')\nimport installed\n",
            **{"env__site-packages__installed": ""}
        )
        self.assertEqual(self.names(worker.files), ["plug.py"])

    def test_failed(self):
        for text, more in (
            ("import broken\n", ["broken.py"]),
            ("import syntax\n", ["syntax.py"]),
            ("import broken.module\n", ["broken.py"]),
            ("import absent\n", ["absent.py", "absent/__init__.py"]),
            ("1 / 0\n", []),
            ("def (\n", []),
        ):
            with self.subTest(text):
                worker = self.worker_of(plug=text, broken="raise ValueError\n", syntax="def (\n")
                answer = self.refused((worker.ready[0], worker.ready[2]), "load")
                self.assertEqual(self.names(answer["files"]), sorted(more + ["plug.py"]))


if __name__ == "__main__":
    unittest.main()
