"""Tests concurrent coroutines, and how they are canceled."""

import select
import sys
import unittest

from client import Case, packed
from test_streams import PLUGIN


class Coroutines(Case):
    PLUGIN = PLUGIN
    maxDiff = None

    def test_results(self):
        for name, args, value in (
            ("coroutine", [1, 2], [1, 2]),
            ("at_once", ["x"], "x"),
            ("awaitable", [], "awaited"),
            ("decorated", [1], [1, 0]),
            ("partial", [2], [1, 2]),
            ("threaded", [], 7),
            ("runs", [], [1, 0]),
            ("forks", [], 0),
            ("echo", [1], 1),
        ):
            self.ok(self.worker.call(name, *args), value)
        self.assertEqual(self.worker.call("returns_bytes"), ("B", b"a"))
        for name in ("agen", "agen_at_once"):
            self.assertEqual(self.worker.stream(self.worker.begin(name, 3)), ([0, 1, 2], "Z", None))
        for name in ("returns_gen", "returns_agen"):
            self.assertEqual(self.worker.stream(self.worker.begin(name)), ([0, 1, 2], "Z", None))
        self.refused(self.worker.call("coroutine"), "arguments")

    def test_errors(self):
        python = self.refused(self.worker.call("araises"), "raised")["python"]
        self.assertEqual([frame["function"] for frame in python["frames"]], ["araises", "inner"])
        for name, code in (("aexits", "4"), ("subtask_exits", "5")):
            python = self.refused(self.worker.call(name), "raised")["python"]
            self.assertEqual((python["type"], python["message"]), ("SystemExit", code))
        self.assertIn("CancelledError", self.refused(self.worker.call("cancels_itself"), "raised")["python"]["type"])
        self.ok(self.worker.call("at_once", 1), 1)

    def test_many_at_once(self):
        numbers = [self.worker.begin("waits", str(index)) for index in range(50)]
        for _ in numbers:
            self.worker.wait_mark()
        for index in reversed(range(50)):
            self.ok(call_among(self.worker, "sets", str(index), numbers[index]), str(index))

    def test_first_frames_at_once(self):
        """Calls that arrive together with the one that starts the loop are answered, too."""
        worker = self.start(PLUGIN)
        frames = [packed("C", n, {"hook": "at_once", "args": [n]}) for n in range(1, 20)]
        worker.sink.write(b"".join(frames))
        self.assertEqual(sorted(worker.receive()[1] for _ in frames), list(range(1, 20)))

    def test_child_that_answers_nothing(self):
        """Checks that a child that continues the loop does not take frames from its parent."""
        worker = self.start(PLUGIN)
        self.ok(worker.call("forks_aside"), None)
        number = worker.begin("echo", 1)
        self.assertTrue(select.select([worker.source], [], [], 10)[0], "the call is lost")
        self.ok(worker.answer(number), 1)

    def test_cancel(self):
        for name, check in (
            ("waits", lambda answer: self.refused(answer, "canceled")["python"]["frames"][0]["function"] == "waits"),
            ("shielded", lambda answer: answer == ("R", "swallowed")),
            ("cleans", lambda answer: self.refused(answer, "canceled")["python"]["message"] == "in cleaning"),
        ):
            number = self.worker.begin(name, "never")
            self.worker.wait_mark()
            self.worker.send("K", number)
            self.assertTrue(check(self.worker.answer(number)), name)

    def test_cancel_before_the_first_step(self):
        self.worker.number += 1
        number = self.worker.number
        for hook, args in (("waits", ["never"]), ("endless", []), ("aendless", [])):
            call = packed("C", number, {"hook": hook, "args": args})
            self.worker.sink.write(call + packed("K", number))
            items, kind, value = self.worker.stream(number)
            self.refused((kind, value), "canceled")
        self.assertNotIn("never awaited", self.worker.stderr())

    def test_interrupt(self):
        before = self.worker.call("loop_id")
        for name in ("blocks", "subtask_blocks", "callback_blocks", "sync_blocks"):
            number = self.worker.begin(name)
            self.worker.wait_mark()
            answer = self.refused(self.worker.interrupted(number), "canceled")
            if name in ("blocks", "subtask_blocks"):
                self.assertIn("blocks", [frame["function"] for frame in answer["python"]["frames"]])
            self.assertEqual(self.worker.call("loop_id"), before)

    def test_where_it_waited(self):
        """Checks that the last frame of a canceled call is user code, not asyncio."""
        text = (
            "\ndef direct(): mark(); return asyncio.sleep(60)\n"
            "async def slept(): mark(); await asyncio.sleep(60)\n"
            "async def gathers(): await asyncio.gather(slept(), asyncio.sleep(60))\n"
            "async def times_out(): await asyncio.wait_for(slept(), 60)\n"
            "async def queues(): mark(); await asyncio.Queue().get()\n"
            "async def awaiting():\n    yield 1\n    await slept()\n"
            "def yielding():\n    mark()\n    while True: yield 'x' * 998\n"
            "async def ayielding():\n    mark()\n    while True: yield 'x' * 998\n"
        )
        worker = self.start(PLUGIN + text)
        for name, last in (
            ("direct", None),
            ("slept", "slept"),
            ("gathers", "slept" if sys.version_info >= (3, 11) else "gathers"),
            ("times_out", "slept" if sys.version_info >= (3, 12) else "times_out"),
            ("queues", "queues"),
            ("awaiting", "slept"),
            ("yielding", None),
            ("ayielding", None),
        ):
            number = worker.begin(name)
            worker.wait_mark()
            worker.send("K", number)
            items, kind, value = worker.stream(number)
            frames = self.refused((kind, value), "canceled")["python"]["frames"]
            self.assertEqual(frames[-1]["function"] if frames else None, last, name)

    def test_interrupt_of_a_waiting_call(self):
        number = self.worker.begin("waits", "interrupted")
        self.worker.wait_mark()
        python = self.refused(self.worker.interrupted(number), "canceled")["python"]
        self.assertEqual(python["frames"][0]["function"], "waits")

    def test_storm(self):
        for index in range(300):
            number = self.worker.begin("coroutine", index)
            kind, value = self.worker.interrupted(number)
            self.assertTrue(kind == "R" or value["reason"] == "canceled", value)

    def test_interrupt_for_nobody(self):
        """Checks that a signal is ignored if there are several calls, because its target is unknown."""
        numbers = [self.worker.begin("waits", name) for name in ("storm", "calm")]
        for _ in numbers:
            self.worker.wait_mark()
        for index in range(100):
            self.worker.interrupt()
            self.ok(self.worker.call("coroutine", index), [index, 0])
        for name, number in zip(("storm", "calm"), numbers):
            self.ok(call_among(self.worker, "sets", name, number), name)

    def test_end_meanwhile(self):
        for stop in ("stop", "close"):
            worker = self.start(PLUGIN)
            worker.begin("waits", "never")
            worker.begin("aendless")
            worker.wait_mark()
            self.assertEqual((getattr(worker, stop)(), worker.stderr()), (0, ""))

    def test_idle_loop(self):
        """Checks that a plain hook can run the coroutines' loop, while other calls wait on it."""
        text = """
            import asyncio, os, select, signal
            def mark(): os.write(int(os.environ["MARKER"]), b".")
            async def prepare():
                global event, loop
                event, loop = asyncio.Event(), asyncio.get_running_loop()
            async def waits():
                mark()
                await event.wait()
                return "waited"
            async def sets(): event.set()
            def runs(close=False):
                own = asyncio.get_event_loop()
                own.run_until_complete(sets())
                if close: own.close()
                return own is loop
            def blocks():
                asyncio.get_event_loop().call_soon(mark)
                asyncio.get_event_loop().run_until_complete(asyncio.sleep(60))
            def leaves():
                own = asyncio.get_event_loop()
                def ends():
                    os.kill(os.getpid(), signal.SIGINT)
                def waits():
                    mark()
                    select.select([__import__("_pyplug_worker").source], [], [])
                    own.call_soon(ends)
                own.call_soon(waits)
                own.run_until_complete(asyncio.sleep(60))
            def resets(): return asyncio.run(asyncio.sleep(0, "reset"))
            def later(): return asyncio.ensure_future(sets())
            """
        worker = self.start(text)
        for close in (False, True, False):
            worker.call("prepare")
            number = worker.begin("waits")
            worker.wait_mark()
            other = worker.begin("runs", close)
            answers = {answered: (kind, value) for kind, answered, value in (worker.receive(), worker.receive())}
            self.assertEqual(answers, {number: ("R", "waited"), other: ("R", True)})
            self.ok(worker.call("resets"), "reset")
            self.ok(worker.call("later"), None)
        number = worker.begin("blocks")
        worker.wait_mark()
        last = worker.begin("runs")  # the frame comes while a hook runs the loop
        self.refused(worker.interrupted(number), "canceled")
        self.ok(worker.answer(last), True)
        number = worker.begin("leaves")
        worker.wait_mark()
        last = worker.begin("runs")  # the interrupt comes after the loop has noticed the frame and before anything reads it
        self.refused(worker.answer(number), "canceled")
        self.ok(worker.answer(last), True)
        worker.begin("blocks")
        worker.wait_mark()
        worker.interrupt()
        self.assertEqual((worker.stop(), worker.stderr()), (0, ""))

    def test_loop_of_another_kind(self):
        """Checks a loop like uvloop's, which stops one iteration later, and whose remove_reader returns nothing."""
        text = """
            import asyncio, os, select
            class Loop(asyncio.SelectorEventLoop):
                def stop(self): self.call_soon(super().stop)
                def remove_reader(self, descriptor): super().remove_reader(descriptor)
            asyncio.new_event_loop = Loop
            async def one(): return 1
            async def reads():
                os.write(int(os.environ["MARKER"]), b".")
                select.select([__import__("_pyplug_worker").source], [], [])
                for _ in range(3): await asyncio.sleep(0)
                return "ran"
            def runs(): return asyncio.get_event_loop().run_until_complete(reads())
            """
        worker = self.start(text)
        self.ok(worker.call("one"), 1)
        for _ in range(2):
            number = worker.begin("runs")
            worker.wait_mark()
            last = worker.begin("one")  # the frame comes while a hook runs the loop
            self.ok(worker.answer(number), "ran")
            self.ok(worker.answer(last), 1)

    def test_made_at_import(self):
        """Checks locks made at import, which on Python 3.9 belong to the loop that was then current."""
        text = """
            import asyncio
            lock, ready, queue = asyncio.Lock(), asyncio.Event(), asyncio.Queue()
            async def locked(n):
                async with lock: await asyncio.sleep(0)
                return n
            async def many(): return await asyncio.gather(*map(locked, range(3)))
            async def waits():
                asyncio.get_running_loop().call_soon(ready.set)
                return await ready.wait()
            async def gets():
                asyncio.get_running_loop().call_soon(queue.put_nowait, 1)
                return await queue.get()
            def runs(): return asyncio.run(asyncio.sleep(0, 2))
            """
        worker = self.start(text)
        for name, value in (("many", [0, 1, 2]), ("waits", True), ("gets", 1), ("runs", 2), ("many", [0, 1, 2])):
            self.ok(worker.call(name), value)
        worker = self.start(text + "asyncio.run(asyncio.sleep(0))\n")  # asyncio.run removes the current loop
        self.ok(worker.call("locked", 1), 1)

    def test_not_a_frame(self):
        worker = self.start(PLUGIN)
        worker.call("at_once", 1)
        worker.sink.write(b"\xff" * 9)
        self.assertIsNone(worker.receive())
        self.assertEqual(worker.close(), 1)
        self.assertIn("pyplug: impossible length", worker.stderr())


def call_among(worker, hook, argument, wanted):
    """Makes a call whose result is None, and returns the answer of a waiting call that it releases."""
    number = worker.begin(hook, argument)
    answers = dict((found[1], (found[0], found[2])) for found in (worker.receive(), worker.receive()))
    if answers.pop(number) != ("R", None):
        raise AssertionError("%s was not answered with nothing" % hook)
    return answers[wanted]


if __name__ == "__main__":
    unittest.main()
