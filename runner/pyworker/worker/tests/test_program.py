"""Tests how the worker gets its own code."""

import os
import unittest

from client import SCRATCH, Case, Worker, write


class Program(Case):
    TEXT = """
def text(): return "text"
def stream(): yield b"item"
async def coroutine(): return {1}
def fails(): raise ValueError("on purpose")
"""

    def use(self, worker):
        """Makes calls that need parts that the worker has not loaded yet."""
        self.ok(worker.call("text"), "text")
        self.assertEqual(worker.stream(worker.begin("stream")), ([b"item"], "Z", None))
        self.ok(worker.call("coroutine"), [1])
        frames = self.refused(worker.call("fails"), "raised")["python"]["frames"]
        self.assertEqual([frame["function"] for frame in frames], ["fails"])
        self.assertEqual([hook["name"] for hook in worker.ask("D", {"hook": "", "input": False})[1]["hooks"]], ["text", "stream", "coroutine", "fails"])
        self.assertEqual((worker.stop(), worker.stderr()), (0, ""))

    def cache(self):
        path = os.path.join(SCRATCH, self.id(), "cache")
        os.makedirs(path)
        return path

    def test_kept(self):
        cache = self.cache()
        for compiled in (True, False):
            worker = self.start(self.TEXT, cache=os.path.join(cache, "worker-"))
            (name,) = os.listdir(cache)
            self.assertEqual((name[:7], worker.compiled), ("worker-", compiled))
            if not compiled:
                os.remove(os.path.join(cache, name))
                os.rmdir(cache)
            self.use(worker)

    def test_damaged(self):
        """Checks that damaged byte code, or that of another program, is replaced."""
        cache = self.cache()
        self.start(self.TEXT, cache=os.path.join(cache, "worker-"))
        path = os.path.join(cache, *os.listdir(cache))
        with open(path, "rb") as file:
            good = file.read()
        for data in (b"", good[:-9], good.replace(b"identity", b"otherone"), b"i\0\0\0\0", bytes(999)):
            with open(path, "wb") as file:
                file.write(data)
            for compiled in (True, False):
                worker = self.start(self.TEXT, cache=os.path.join(cache, "worker-"))
                self.assertEqual(worker.compiled, compiled)
            self.use(worker)

    def test_no_place(self):
        for cache in ("", os.path.join(SCRATCH, "missing", "worker-")):
            worker = self.start(self.TEXT, cache=cache)
            self.assertTrue(worker.compiled)
            self.use(worker)

    @unittest.skipIf(not hasattr(os, "getuid") or os.getuid(), "only root can give up its user")
    def test_other_user(self):
        """Checks that the worker still has its code after a plugin has changed its user at import."""
        own = "import asyncio, binascii, os, select\nos.setuid(65534)\n"
        self.use(self.start(own + self.TEXT))

    def test_old_pythons(self):
        pythons = os.environ.get("PYPLUG_TEST_OLD_PYTHONS", "")
        if not pythons:
            self.skipTest("PYPLUG_TEST_OLD_PYTHONS names none")
        for python in pythons.split(os.pathsep):
            worker = Worker(write("old/plug.py", ""), python=python)
            kind, number, answer = worker.ready
            self.assertEqual((kind, number, answer["reason"]), ("E", 0, "old"))
            self.assertRegex(answer["message"], r"^python [23]\.\d+\.\d+$")
            self.assertEqual((worker.close(), worker.stderr()), (0, ""))
            worker.errors.close()


if __name__ == "__main__":
    unittest.main()
