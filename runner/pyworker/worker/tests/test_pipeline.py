"""Tests calls that wait in the worker until the calls before them are answered."""

import os
import select
import signal
import unittest

from client import Case


class Pipeline(Case):
    """Tests that SIGINT interrupts only a call whose cancel has come, and that calls are handed back."""

    OPTIONS = {"calls": "pipeline"}
    PLUGIN = """
        import asyncio, os, time

        ran = []

        def mark(): os.write(int(os.environ["MARKER"]), b"!")
        def wait_for(path):
            mark()
            time.sleep(0.01)  # the worker looks for cancels only after a slow call
            while not os.path.exists(path): time.sleep(0.001)
            return "waited"
        def echo(value):
            ran.append(value)
            return value
        def has_run(): return ran
        def wait_in_stream(path): yield wait_for(path)
        def fails(): raise ValueError
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

    def ahead(self, kinds, hook, *args):
        """Sends calls ahead and returns their numbers."""
        numbers = range(self.worker.number + 1, self.worker.number + 1 + len(kinds))
        for kind, number in zip(kinds, numbers):
            self.worker.send(kind, number, {"hook": hook, "args": args})
        self.worker.number = numbers[-1]
        return numbers

    def test_ahead(self):
        first = self.worker.begin("echo", "first")
        behind = self.ahead("AUA", "echo", "behind")
        for number in (first, *behind):
            self.ok(self.worker.answer(number), "first" if number == first else "behind")

    def test_handed_back_while_a_call_runs(self):
        for hook, answered in (("wait_for", "R"), ("wait_in_stream", "I")):
            path = self.path() + hook
            first = self.worker.begin(hook, path)
            self.worker.wait_mark()
            behind = self.ahead("AUA", "echo", "handed back")
            self.worker.send("B", behind[-1])
            self.urge(behind[0])
            self.worker.number += 1
            self.worker.send("C", self.worker.number, {"hook": "echo", "args": ["later"]})
            self.release(path)
            self.assertEqual(self.worker.answer(first), (answered, "waited"))
            if answered == "I":
                self.assertEqual(self.worker.answer(first), ("Z", None))
            self.unbegun(behind)
            self.ok(self.worker.answer(self.worker.number), "later")
        self.assertNotIn("handed back", self.worker.call("has_run")[1])

    def urge(self, number):
        """Sends SIGURG, some of which Python loses, until the worker has handed back the calls from a number on."""
        while not select.select([self.worker.source], [], [], 0.1)[0]:
            self.worker.process.send_signal(signal.SIGURG)
        self.assertEqual(self.worker.receive(), ("N", number, None))

    def unbegun(self, numbers):
        for number in numbers:
            self.assertEqual(self.worker.receive(), ("N", number, None))

    def test_handed_back_between_calls(self):
        path = self.path()
        first = self.worker.begin("wait_for", path)
        self.worker.wait_mark()
        behind = self.ahead("AA", "echo", "handed back")
        self.worker.send("B", behind[-1])
        self.release(path)
        self.ok(self.worker.answer(first), "waited")
        self.unbegun([behind[0], *behind])
        self.worker.send("B", behind[-1])  # no call waits
        self.ok(self.worker.call("echo", "after"), "after")
        self.assertNotIn("handed back", self.worker.call("has_run")[1])

    def test_handed_back_before_the_first(self):
        worker = self.start(
            "import time\nran = []\nclass Slow:\n def __del__(self): time.sleep(0.2)\n"
            "def fails():\n slow = Slow()\n raise ValueError\n"
            "def echo(x): ran.append(x)\ndef has_run(): return ran\n",
            calls="pipeline",
        )
        worker.send("C", 1, {"hook": "fails", "args": []})
        self.assertEqual(worker.receive()[:2], ("E", 1))  # the hook's local variable is not yet freed
        for kind, number in (("C", 2), ("A", 3), ("A", 4)):
            worker.send(kind, number, {"hook": "echo", "args": ["behind"]})
        worker.send("B", 4)
        worker.process.send_signal(signal.SIGURG)
        answers = []
        while not answers or answers[-1][1] < 4:
            answers.append(worker.receive())
        worker.send("C", 5, {"hook": "has_run", "args": []})
        begun = [number for kind, number, _ in answers if kind == "R"]
        unbegun = {number for kind, number, _ in answers if kind == "N"}
        self.assertEqual(worker.receive(), ("R", 5, ["behind"] * len(begun)))
        self.assertEqual(set(begun) & unbegun, set())

    def test_both_signals(self):
        worker = self.start("import time\ndef hang():\n while True: pass\ndef echo(x): return x\n", calls="pipeline")
        number = 0
        for _ in range(40):
            worker.send("C", number + 1, {"hook": "hang", "args": []})
            worker.send("A", number + 2, {"hook": "echo", "args": [1]})
            worker.send("B", number + 2)
            worker.send("K", number + 1)
            worker.process.send_signal(signal.SIGURG)
            got, wanted = set(), {("E", number + 1), ("N", number + 2)}
            while not wanted <= got:  # the call behind is also rejected at its turn, perhaps in the next round
                worker.interrupt()
                while not wanted <= got and (worker.left or select.select([worker.source], [], [], 0.1)[0]):
                    got.add(worker.receive()[:2])
            number += 2

    def test_nothing_behind_a_failure(self):
        for hook in ("fails", "none"):
            self.worker.number += 1
            self.worker.send("C", self.worker.number, {"hook": hook, "args": []})
            behind = self.ahead("UU", "echo", "behind a failure")
            self.assertEqual(self.worker.receive()[0], "E")
            self.unbegun(behind)
            self.ok(self.worker.call("echo", "after"), "after")
            (number,) = self.ahead("U", "echo", "unless")
            self.ok(self.worker.answer(number), "unless")
        self.assertNotIn("behind a failure", self.worker.call("has_run")[1])

    def test_nothing_behind_a_coroutine(self):
        worker = self.start("import asyncio\nasync def f(): await asyncio.sleep(0.01)\n", calls="pipeline")
        worker.send("C", 1, {"hook": "f", "args": []})
        worker.send("A", 2, {"hook": "f", "args": []})
        worker.send("U", 3, {"hook": "f", "args": []})
        self.assertEqual(sorted(worker.receive()[:2] for _ in range(4)), [("N", 2), ("N", 3), ("O", 1), ("R", 1)])

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

    def test_running_call_is_canceled(self):
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
        # Once the loop runs, only a canceled call is interrupted.
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
