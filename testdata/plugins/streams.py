"""Has generators for hooks, plain and async: their items are a stream."""

import os
import asyncio


def _write(path: str, word: str):
    """Write a word to a file, so that a test knows how far this came."""
    if path:
        with open(path, "w") as file:
            file.write(word)


def count(n: int = 3):
    """So many numbers."""
    for i in range(n):
        yield i


def nothing():
    """No items."""
    return
    yield


def endless(finished: str = "", step: str = ""):
    """Numbers without end; the files tell that it was closed, and how far it came."""
    i = 0
    try:
        while True:
            _write(step, str(i))
            yield i
            i += 1
    finally:
        _write(finished, "closed")


def fails(after: int = 2):
    """Raise after so many items."""
    yield from range(after)
    raise ValueError("no more")


def unrepresentable(after: int = 2):
    """An item that cannot be represented after so many that can."""
    yield from range(after)
    yield {"item": object()}


def large(n: int = 10, size: int = 1 << 20):
    """Items of a megabyte."""
    for _ in range(n):
        yield "x" * size


def stuck(after: int = 1, started: str = ""):
    """Hang after so many items."""
    yield from range(after)
    _write(started, "stuck")
    import time

    time.sleep(3600)


def exits(after: int = 2, code: int = 7):
    """End the process after so many items."""
    import os

    yield from range(after)
    os._exit(code)


def raw(n: int = 2):
    """Items that are bytes."""
    for _ in range(n):
        yield b"\x00\xff"


def returns(n: int = 2):
    """A return value besides the items, which nobody gets."""
    yield from range(n)
    return "unseen"


def iterator(n: int = 3):
    """No generator itself, but it returns one."""
    return count(n)


async def acount(n: int = 3, delay: float = 0.0):
    """So many numbers, from an async generator."""
    for i in range(n):
        await asyncio.sleep(delay)
        yield i


async def aendless(finished: str = "", step: str = ""):
    """Numbers without end, from an async generator."""
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
    """An async generator that raises after so many items."""
    for i in range(after):
        yield i
    raise ValueError("no more")


async def ahang(started: str = "", finished: str = ""):
    """An async generator that waits for ever after its first item."""
    try:
        yield 0
        _write(started, "waiting")
        await asyncio.Event().wait()
    finally:
        _write(finished, "closed")


def late(path: str):
    """Two large items; the process ends a little after the stream has."""
    import threading

    def leave():
        os._exit(7)

    yield "x" * 100_000
    yield "last"
    threading.Timer(0.05, leave).start()
