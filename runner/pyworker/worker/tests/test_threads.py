"""Tests plain functions in threads."""

import unittest

from client import Case


class Threads(Case):
    """Tests calls that run at the same time."""

    OPTIONS = {"calls": "threads"}
    PLUGIN = """
        import asyncio, functools, os, threading, time

        both = threading.Barrier(2)
        loops = set()
        gate = os.pipe()

        def mark(): os.write(int(os.environ["MARKER"]), b"!")
        def echo(value): return value
        def meet(): return both.wait(20) >= 0
        def ident(): return threading.get_ident()
        def main(): return threading.main_thread().ident
        def fail(): raise ValueError("on purpose")
        def leave(): raise SystemExit(3)
        def spin():
            mark()
            while True: pass
        def use_up():
            held = []
            try:
                while True: held.append(os.open(os.devnull, os.O_RDONLY))
            except OSError: pass
            try: spin()
            finally:
                for one in held: os.close(one)
        def stuck():
            try:
                mark()
                os.read(gate[0], 1)
            except KeyboardInterrupt:
                os.read(gate[0], 1)
                raise
        def release(): os.write(gate[1], b"12")
        def swallow():
            try:
                mark()
                while True: time.sleep(0.0001)
            except KeyboardInterrupt:
                return "swallowed"
        def stream(n, size=1):
            try:
                for i in range(n): yield "x" * size
            finally:
                mark()
        def endless():
            mark()
            while True: yield "x" * 1000
        class Both:
            def __iter__(self): return iter(range(2))
            async def __aiter__(self): yield "async"
        def both_ways(): return Both()
        def odd():
            yield 1
            yield object()
        async def here():
            loops.add(id(asyncio.get_running_loop()))
            await asyncio.sleep(0)
            return len(loops)
        def indirect(): return here()
        async def hang():
            mark()
            await asyncio.sleep(3600)
        def hang_indirect(): return hang()
        def hang_quietly(): return asyncio.sleep(3600)
        def health(): return threading.get_ident() != main()
        def prints(text): print(text, end="")
        class Odd(Exception): exceptions = property(lambda self: 1 / 0)
        def odd_error(): raise Odd("boom")
        async def odd_later(): raise Odd("boom")
        def spoil(part, name):
            def spoiled(*_, **__): raise RuntimeError("spoiled " + name)
            setattr(__import__("_pyplug_" + part), name, spoiled)
        def no_threads():
            class Nobody(list):
                def append(self, one): pass
            __import__("_pyplug_threads").idle = Nobody()
            spoil("threads", "start_new_thread")
    """

    def answers(self, *numbers):
        """Returns the answers of several calls, which may come in any order."""
        found = {}
        while len(found) < len(numbers):
            kind, number, value = self.worker.receive()
            found[number] = kind, value
        return [found[number] for number in numbers]

    def test_at_once(self):
        first, second = self.worker.begin("meet"), self.worker.begin("meet")
        self.assertEqual(self.answers(first, second), [("R", True)] * 2)

    def test_not_in_the_main_thread(self):
        self.assertNotEqual(self.worker.call("ident"), self.worker.call("main"))

    def test_errors(self):
        self.refused(self.worker.call("nosuch"), "hook")
        self.refused(self.worker.call("echo"), "arguments")
        told = self.refused(self.worker.call("fail"), "raised")["python"]
        self.assertEqual((told["type"], [frame["function"] for frame in told["frames"]]), ("ValueError", ["fail"]))
        self.assertEqual(self.refused(self.worker.call("leave"), "raised")["python"]["type"], "SystemExit")
        self.ok(self.worker.call("echo", 1), 1)

    def test_cancel_without_descriptors(self):
        worker = self.start(self.PLUGIN, calls="threads")
        number = worker.begin("use_up")
        worker.wait_mark()
        worker.send("K", number)
        self.refused(worker.answer(number), "canceled")
        self.ok(worker.call("echo", 1), 1)

    def test_cancel_hits_its_own_call(self):
        spins = [self.worker.begin("spin") for _ in range(3)]
        for _ in spins:
            self.worker.wait_mark()
        self.worker.send("K", spins[1])
        told = self.refused(self.worker.answer(spins[1]), "canceled")["python"]
        self.assertIn("spin", [frame["function"] for frame in told["frames"]])
        self.ok(self.worker.call("echo", "between"), "between")
        for number in (spins[2], spins[0]):
            self.worker.send("K", number)
            self.refused(self.worker.answer(number), "canceled")

    def test_cancel_in_c_code(self):
        number = self.worker.begin("stuck")
        self.worker.wait_mark()
        self.worker.send("K", number)
        kind, about, told = self.worker.receive()
        self.assertEqual((kind, about, told["python"]["frames"][-1]["function"]), ("T", number, "stuck"))
        other = self.worker.begin("release")
        answer, _ = self.answers(number, other)
        self.refused(answer, "canceled")

    def test_cancel_at_any_moment(self):
        for _ in range(300):
            number = self.worker.begin("echo", "x")
            self.worker.send("K", number)
            kind, value = self.worker.answer(number)
            self.assertIn((kind, value if kind == "R" else value["reason"]), (("R", "x"), ("E", "canceled")))
            self.ok(self.worker.call("echo", [1]), [1])

    def test_swallowed(self):
        number = self.worker.begin("swallow")
        self.worker.wait_mark()
        self.worker.send("K", number)
        self.ok(self.worker.answer(number), "swallowed")

    def test_streams(self):
        self.assertEqual(self.worker.stream(self.worker.begin("both_ways")), ([0, 1], "Z", None))
        items, kind, _ = self.worker.stream(self.worker.begin("stream", 100))
        self.assertEqual((len(items), kind), (100, "Z"))
        self.worker.wait_mark()
        items, kind, value = self.worker.stream(self.worker.begin("odd"))
        self.assertEqual((items, kind, value["place"]), ([1], "E", "$"))

    def test_stream_waits_and_is_cancelled(self):
        number = self.worker.begin("stream", 1000, 1000)
        size = 0
        while size + 1002 <= 262144:
            kind, value = self.worker.answer(number)
            size += len(value) + 2
        self.ok(self.worker.call("echo", "it waits"), "it waits")
        self.worker.send("W", number, (2004).to_bytes(4, "little"))
        self.assertEqual([self.worker.answer(number)[0] for _ in range(2)], ["I", "I"])
        self.worker.send("K", number)
        self.refused(self.worker.answer(number), "canceled")
        self.worker.wait_mark()

    def test_running_stream_is_cancelled(self):
        number = self.worker.begin("endless")
        self.worker.wait_mark()
        self.worker.send("K", number)
        _, kind, value = self.worker.stream(number)
        self.refused((kind, value), "canceled")

    def test_one_loop(self):
        for hook in ("indirect", "here", "indirect", "here"):
            self.ok(self.worker.call(hook), 1)
        many = [self.worker.begin("indirect") for _ in range(20)]
        self.assertEqual(self.answers(*many), [("R", 1)] * 20)

    def test_coroutine_from_a_thread_is_cancelled(self):
        for hook in ("hang_indirect", "hang"):
            number = self.worker.begin(hook)
            self.worker.wait_mark()
            self.worker.send("K", number)
            self.refused(self.worker.answer(number), "canceled")

    def test_cancel_on_the_way_to_the_loop(self):
        for _ in range(100):
            number = self.worker.begin("hang_quietly")
            self.worker.send("K", number)
            self.refused(self.worker.answer(number), "canceled")

    def test_probe(self):
        self.assertEqual(self.worker.ask("P"), ("R", {}))

    def test_odd_error(self):
        for hook in ("odd_error", "odd_later"):
            told = self.refused(self.worker.call(hook), "raised")["python"]
            self.assertEqual((told["type"], [frame["function"] for frame in told["frames"]]), ("Odd", [hook]))

    def test_no_answer(self):
        """Checks that a call gets an answer, or the worker exits, if the worker's own code fails."""
        worker = self.start(self.PLUGIN, calls="threads")
        self.ok(worker.call("spoil", "errors", "answer"), None)
        self.assertIn("spoiled answer", self.refused(worker.call("fail"), "raised")["python"]["message"])
        self.ok(worker.call("echo", 1), 1)
        self.ok(worker.call("spoil", "errors", "bare"), None)
        worker.begin("fail")
        self.assertIsNone(worker.receive())

    def test_no_thread(self):
        worker = self.start(self.PLUGIN, calls="threads")
        self.ok(worker.call("no_threads"), None)
        for _ in range(2):
            self.assertIn("spoiled", self.refused(worker.call("echo", 1), "raised")["python"]["message"])
            self.assertIn("spoiled", self.refused(worker.ask("P"), "raised")["python"]["message"])

    def test_prints_come_before_the_answer(self):
        self.ok(self.worker.call("prints", "here I am"), None)
        self.assertIn("here I am", self.worker.stderr())


if __name__ == "__main__":
    unittest.main()
