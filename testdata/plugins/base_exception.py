"""Raises what `except Exception` does not catch."""

import asyncio


class Odd(BaseException):
    """Neither an Exception nor one of Python's own."""


def odd():
    """A BaseException of its own."""
    raise Odd("an odd one")


def keyboard_interrupt():
    """What Ctrl-C raises, without a Ctrl-C."""
    raise KeyboardInterrupt


def generator_exit():
    """What closes a generator."""
    raise GeneratorExit("out of place")


async def cancelled_error():
    """What cancels a task, without anybody having cancelled it."""
    raise asyncio.CancelledError("nobody asked")


async def odd_async():
    """The same from a coroutine: asyncio lets it through its loop."""
    raise Odd("an odd one in a task")
