"""Raises what `except Exception` does not catch."""

import asyncio


class Odd(BaseException):
    """Not an Exception, and not one of Python's own."""


def odd():
    """A custom BaseException."""
    raise Odd("an odd one")


def keyboard_interrupt():
    """KeyboardInterrupt without Ctrl-C."""
    raise KeyboardInterrupt


def generator_exit():
    """GeneratorExit outside of a generator."""
    raise GeneratorExit("out of place")


async def cancelled_error():
    """CancelledError without a cancellation."""
    raise asyncio.CancelledError("nobody asked")


async def odd_async():
    """A custom BaseException from a coroutine: it leaves asyncio's event loop."""
    raise Odd("an odd one in a task")
