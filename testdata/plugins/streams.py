"""Has hooks that are generators, plain and async: their items form a stream."""

import os
import asyncio


def _write(path: str, word: str):
    """Write a word to a file, so that a test can observe the progress."""
    if path:
        with open(path, "w") as file:
            file.write(word)


def count(n: int = 3):
    """Yield this many numbers."""
    for i in range(n):
        yield i


def nothing():
    """No items."""
    return
    yield


def endless(finished: str = "", step: str = ""):
    """Yield numbers without end; write files on close and for the progress."""
    i = 0
    try:
        while True:
            _write(step, str(i))
            yield i
            i += 1
    finally:
        _write(finished, "closed")


def fails(after: int = 2):
    """Raise after this many items."""
    yield from range(after)
    raise ValueError("no more")


def unrepresentable(after: int = 2):
    """Yield an item that cannot be represented after this many valid ones."""
    yield from range(after)
    yield {"item": object()}


def large(n: int = 10, size: int = 1 << 20):
    """Yield items of one megabyte."""
    for _ in range(n):
        yield "x" * size


def stuck(after: int = 1, started: str = ""):
    """Hang after this many items."""
    yield from range(after)
    _write(started, "stuck")
    import time

    time.sleep(3600)


def exits(after: int = 2, code: int = 7):
    """Exit after this many items."""
    import os

    yield from range(after)
    os._exit(code)


def raw(n: int = 2):
    """Yield bytes."""
    for _ in range(n):
        yield b"\x00\xff"


def returns(n: int = 2):
    """Yield items, and return a value that is ignored."""
    yield from range(n)
    return "unseen"


def iterator(n: int = 3):
    """A plain function that returns a generator."""
    return count(n)


async def acount(n: int = 3, delay: float = 0.0):
    """Yield this many numbers from an async generator."""
    for i in range(n):
        await asyncio.sleep(delay)
        yield i


async def aendless(finished: str = "", step: str = ""):
    """Yield numbers without end from an async generator."""
    i = 0
    try:
        while True:
            _write(step, str(i))
            yield i
            i += 1
            await asyncio.sleep(0)
    finally:
        _write(finished, "closed")


async def afails(after: int = 2):
    """An async generator that raises after this many items."""
    for i in range(after):
        yield i
    raise ValueError("no more")


async def ahang(started: str = "", finished: str = ""):
    """An async generator that waits forever after its first item."""
    try:
        yield 0
        _write(started, "waiting")
        await asyncio.Event().wait()
    finally:
        _write(finished, "closed")


def late(started: str = ""):
    """Yield two large items; the process exits shortly after the stream ends."""
    import threading

    def leave():
        os._exit(7)

    _write(started, "running")
    yield "x" * 100_000
    yield "last"
    threading.Timer(0.05, leave).start()
