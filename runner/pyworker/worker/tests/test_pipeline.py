"""Calls that wait in the worker until those before them are answered."""

import os
import unittest

from client import Case


class Pipeline(Case):
    """SIGINT is for the call whose cancel has come."""

    OPTIONS = {"calls": "pipeline"}
    PLUGIN = """
        import asyncio, os, time

        ran = []

        def mark(): os.write(int(os.environ["MARKER"]), b"!")
        def wait_for(path):
            mark()
            time.sleep(0.01)  # only after a call that took long are cancels looked for
            while not os.path.exists(path): time.sleep(0.001)
            return "waited"
        def echo(value):
            ran.append(value)
            return value
        def has_run(): return ran
        def hang():
            mark()
            while True: time.sleep(0.001)
        def stream():
            mark()
            while True: yield "x" * 1000
        async def coroutine(value):
            await asyncio.sleep(0)
            return value
    """

    def path(self):
        return os.path.join(os.path.dirname(self.worker.path), self.id())

    def release(self, path):
        with open(path, "wb"):
            pass

    def test_order(self):
        numbers = [self.worker.begin("echo", i) for i in range(100)]
        for i, number in enumerate(numbers):
            self.ok(self.worker.answer(number), i)

    def test_taken_back(self):
        path = self.path()
        first = self.worker.begin("wait_for", path)
        self.worker.wait_mark()
        second, third = self.worker.begin("echo", "second"), self.worker.begin("echo", "third")
        self.worker.send("K", second)
        self.release(path)
        self.ok(self.worker.answer(first), "waited")
        self.assertEqual(self.refused(self.worker.answer(second), "canceled")["message"], "it had not begun")
        self.ok(self.worker.answer(third), "third")
        _, ran = self.worker.call("has_run")
        self.assertNotIn("second", ran)

    def test_series_behind_a_slow_call(self):
        path = self.path()
        first = self.worker.begin("wait_for", path)
        self.worker.wait_mark()
        behind = range(first + 1, first + 5)
        for kind, number in zip("AMAM", behind):
            self.worker.send(kind, number, {"hook": "echo", "args": ["behind"]})
        self.worker.number = behind[-1]
        self.release(path)
        self.ok(self.worker.answer(first), "waited")
        for number in behind:
            self.assertEqual(self.worker.receive(), ("N", number, None))
        self.assertNotIn("behind", self.worker.call("has_run")[1])

    def test_signal_without_a_cancel(self):
        path = self.path()
        first = self.worker.begin("wait_for", path)
        self.worker.wait_mark()
        second = self.worker.begin("echo", "kept")
        self.worker.send("K", second + 100)
        for _ in range(10):
            self.worker.interrupt()
        self.release(path)
        self.ok(self.worker.answer(first), "waited")
        self.ok(self.worker.answer(second), "kept")

    def test_running_call_is_cancelled(self):
        for hook in ("hang", "stream"):
            number = self.worker.begin(hook)
            self.worker.wait_mark()
            after = self.worker.begin("echo", "after")
            self.worker.send("K", number)
            self.worker.interrupt()
            _, kind, value = self.worker.stream(number)
            self.refused((kind, value), "canceled")
            self.ok(self.worker.answer(after), "after")

    def test_tasks_are_reported(self):
        worker = self.start(
            "async def f(x): return x\ndef mark():\n import os; os.write(int(os.environ['MARKER']), b'!')\n"
            "def hang():\n mark()\n while True: pass\n"
            "async def spin():\n mark()\n while True: pass\n",
            calls="pipeline",
        )
        number = worker.begin("f", 1)
        self.assertEqual(worker.receive(), ("O", number, None))
        self.ok(worker.answer(number), 1)
        # Of what runs now, only what is cancelled is interrupted.
        for hook in ("hang", "spin"):
            number = worker.begin(hook)
            if hook == "spin":
                self.assertEqual(worker.receive(), ("O", number, None))
            worker.wait_mark()
            worker.interrupt()
            worker.send("K", number)
            self.refused(worker.interrupted(number), "canceled")


if __name__ == "__main__":
    unittest.main()
