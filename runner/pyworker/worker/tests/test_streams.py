"""Tests streams, their window, and how they are canceled."""

import unittest

from client import Case

WINDOW = 262144
ITEM = "x" * 998  # 1000 bytes as JSON
FITS = WINDOW // 1000

PLUGIN = """
import asyncio, functools, os, sys, threading, time

def mark():
    os.write(int(os.environ["MARKER"]), b".")

def echo(x): return x
def gen(n):
    for i in range(n): yield i
def endless(item="x" * 998):
    try:
        while True: yield item
    finally: mark()
def sizes(*sizes):
    for size in sizes: yield "x" * (size - 2)
def late():
    yield 1
    raise ValueError("late")
def bad():
    try:
        yield 1
        yield object()
    finally: mark()
def stubborn():
    while True:
        try: yield "x" * 998
        except GeneratorExit: pass
def sleepy():
    yield 1
    mark(); time.sleep(60)
def forked():
    yield 1
    yield min(os.fork(), 1)
class Both:
    def __iter__(self): return iter(range(3))
    async def __aiter__(self): yield "async"
def both(): return Both()
async def abody(): return Both()
def binary(): yield from (b"\\xff", "a", bytearray(), memoryview(b"m"), [b"b"], b"")
async def abinary():
    for item in binary(): yield item
def not_a_stream(): return {1: 2}.keys()

class Awaitable:
    def __await__(self):
        yield from asyncio.sleep(0).__await__()
        return "awaited"

def awaitable(): return Awaitable()
async def coroutine(x, y=0):
    await asyncio.sleep(0)
    return [x, y]
async def at_once(x): return x
async def agen(n):
    for i in range(n):
        await asyncio.sleep(0)
        yield i
async def agen_at_once(n):
    for i in range(n): yield i
async def aendless(item="x" * 998):
    try:
        while True: yield item
    finally:
        await asyncio.sleep(0)
        mark()
async def alate():
    yield 1
    raise ValueError("late")
async def abad():
    try:
        yield 1
        yield object()
    finally: mark()
async def returns_gen(): return gen(3)
async def returns_agen(): return agen(3)
async def returns_bytes(): return b"a"
async def araises(): await inner()
async def inner(): raise ValueError("inner")
async def aexits():
    await asyncio.sleep(0)
    sys.exit(4)
async def subtask_exits():
    async def task(): sys.exit(5)
    await asyncio.gather(task(), asyncio.sleep(0))
async def loop_id(): return id(asyncio.get_running_loop())

events = {}
def event(name): return events.setdefault(name, asyncio.Event())
async def waits(name):
    mark()
    await event(name).wait()
    return name
async def sets(name):
    event(name).set()
async def shielded(name):
    try: await waits(name)
    except asyncio.CancelledError: return "swallowed"
async def cleans(name):
    try: await waits(name)
    finally: raise ValueError("in cleaning")
async def cancels_itself(): raise asyncio.CancelledError("own")
async def blocks():
    await asyncio.sleep(0)
    mark(); time.sleep(60)
async def subtask_blocks(): await asyncio.gather(blocks(), asyncio.sleep(60))
async def callback_blocks():
    asyncio.get_running_loop().call_soon(lambda: (mark(), time.sleep(60)))
    await asyncio.sleep(60)
def sync_blocks(): mark(); time.sleep(60)
def runs(): return asyncio.run(coroutine(1))
async def threaded(): return await asyncio.get_running_loop().run_in_executor(None, lambda: 7)
async def forks():
    pid = os.fork()
    if pid == 0: return "child"
    return os.waitpid(pid, 0)[1]
async def forks_aside():
    def fork():
        pid = os.fork()
        if pid: os.waitpid(pid, 0)
    asyncio.get_running_loop().call_soon(fork)
def wrapped(function):
    def wrapper(*args): return function(*args)
    return wrapper
decorated = wrapped(coroutine)
partial = functools.partial(coroutine, 1)
"""


class Streams(Case):
    """Has the tests of streams that apply with and without a running loop."""

    PLUGIN = PLUGIN
    PREFIX = ""

    def begin(self, hook, *args):
        return self.worker.begin(self.PREFIX + hook, *args)

    def items(self, number, count):
        for _ in range(count):
            kind, _ = self.worker.answer(number)
            self.assertEqual(kind, "I")

    def cancel(self, number):
        self.worker.send("K", number)
        items, kind, value = self.worker.stream(number)
        self.refused((kind, value), "canceled")
        return len(items), value

    def test_items(self):
        self.assertEqual(self.worker.stream(self.worker.begin("gen", 3)), ([0, 1, 2], "Z", None))
        self.assertEqual(self.worker.stream(self.worker.begin("gen", 0)), ([], "Z", None))
        self.assertEqual(self.worker.stream(self.worker.begin("both")), ([0, 1, 2], "Z", None))

    def test_bytes(self):
        self.assertEqual(self.worker.stream(self.begin("binary")), ([b"\xff", "a", b"", b"m", ["Yg=="], b""], "Z", None))

    def test_window(self):
        number = self.begin("endless")
        self.items(number, FITS)
        self.worker.send("W", number, (2000).to_bytes(4, "little"))
        self.items(number, 2)
        more, _ = self.cancel(number)
        self.assertEqual(more, 0)
        self.worker.wait_mark()  # the stream's finally block ran
        self.ok(self.worker.call("echo", 1), 1)

    def test_large_items(self):
        """Checks that an item of any size may be in flight, but only if no other item is."""
        number = self.worker.begin("sizes", 300000, 300000, 200000, 200000)
        for size in (300000, 300000, 200000, 200000):
            self.items(number, 1)
            self.worker.send("W", number, size.to_bytes(4, "little"))
        self.assertEqual(self.worker.answer(number), ("Z", None))
        number = self.worker.begin("sizes", 200000, 100000, 100000)
        self.items(number, 1)
        self.assertEqual(self.cancel(number)[0], 0)

    def test_cancel_after_the_end(self):
        number = self.worker.begin("gen", 1)
        self.worker.stream(number)
        self.worker.send("K", number)
        self.worker.send("W", number, (1).to_bytes(4, "little"))
        self.ok(self.worker.call("echo", 1), 1)

    def test_errors(self):
        items, kind, value = self.worker.stream(self.begin("late"))
        self.assertEqual((items, self.refused((kind, value), "raised")["python"]["message"]), ([1], "late"))
        self.assertIn(self.PREFIX + "late", value["python"]["frames"][0]["function"])
        items, kind, value = self.worker.stream(self.begin("bad"))
        self.assertEqual((items, self.refused((kind, value), "result")["place"]), ([1], "$"))
        self.worker.wait_mark()
        self.ok(self.worker.call("not_a_stream"), [1])

    def test_interrupted_step(self):
        number = self.worker.begin("sleepy")
        self.items(number, 1)
        self.worker.wait_mark()
        python = self.refused(self.worker.interrupted(number), "canceled")["python"]
        self.assertIn("sleepy", [frame["function"] for frame in python["frames"]])

    def test_interrupted_wait(self):
        number = self.begin("endless")
        self.items(number, FITS)
        self.refused(self.worker.interrupted(number), "canceled")
        self.worker.wait_mark()


class SyncStreams(Streams):
    def test_stubborn(self):
        number = self.worker.begin("stubborn")
        self.items(number, FITS)
        self.cancel(number)
        self.ok(self.worker.call("echo", 1), 1)

    def test_frames_meanwhile(self):
        number = self.worker.begin("endless")
        self.items(number, FITS)
        second, third = self.worker.begin("echo", 2), self.worker.begin("echo", 3)
        self.worker.send("K", third)
        self.refused(self.worker.answer(third), "canceled")
        self.cancel(number)
        self.ok(self.worker.answer(second), 2)
        self.worker.wait_mark()

    def test_end_meanwhile(self):
        for stop in ("stop", "close"):
            worker = self.start(PLUGIN)
            number = worker.begin("endless", "x" * 300000)
            self.assertEqual(worker.answer(number)[0], "I")
            self.assertEqual(getattr(worker, stop)(), 0)

    def test_fork(self):
        number = self.worker.begin("forked")
        self.assertEqual(self.worker.stream(number), ([1, 1], "Z", None))
        self.ok(self.worker.call("echo", 1), 1)


class AsyncStreams(Streams):
    PREFIX = "a"

    def test_both_ways(self):
        """Checks that the result of a coroutine is iterated asynchronously."""
        self.assertEqual(self.worker.stream(self.worker.begin("abody")), (["async"], "Z", None))

    def test_fairness(self):
        """Checks that a stream that never yields to the loop does not block other calls."""
        number = self.worker.begin("aendless", "")
        self.items(number, 1)
        other = self.worker.begin("at_once", 1)
        while True:
            kind, answered, _ = self.worker.receive()
            if answered == other:
                break
            self.worker.send("W", number, (2).to_bytes(4, "little"))
        self.assertEqual(kind, "R")
        self.cancel(number)
        self.worker.wait_mark()


class LoopedStreams(Streams):
    """Tests plain generators while a loop runs."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.worker.call("at_once", 1)


def load_tests(loader, tests, pattern):
    """Loads all test cases except Streams, which is only a base class."""
    cases = (SyncStreams, AsyncStreams, LoopedStreams, Iterators)
    return unittest.TestSuite(loader.loadTestsFromTestCase(case) for case in cases)


class Iterators(Case):
    PLUGIN = """
import csv
def strings(): return map(str, [1, 2])
async def from_coroutine_strings(): return map(str, [1, 2])
def binary(): yield from (b"a", "b", b"c")
def iterators(): return {"a": map(str, [1]), "b": float("nan"), "c": zip([1], [2]), "d": (x for x in [1]), "e": [csv.reader(["x,y"])]}
"""

    def test_iterators(self):
        """Checks that an iterator is a stream, or an array if it is within another value."""
        for calls in (None, "threads"):
            worker = self.start(self.PLUGIN, nan="null", calls=calls)
            for name in ("strings", "from_coroutine_strings"):
                self.assertEqual(worker.stream(worker.begin(name)), (["1", "2"], "Z", None))
            self.assertEqual(worker.stream(worker.begin("binary")), ([b"a", "b", b"c"], "Z", None))
            self.ok(worker.call("iterators"), {"a": ["1"], "b": None, "c": [[1, 2]], "d": [1], "e": [[["x", "y"]]]})


if __name__ == "__main__":
    unittest.main()
