"""Calls sys.exit during a call."""

import sys


def leave(code: int = 3):
    """sys.exit with a number."""
    sys.exit(code)


def leave_with_words(words: str = "the input is bad"):
    """sys.exit with a message."""
    sys.exit(words)


async def leave_async(code: int = 3):
    """sys.exit in a coroutine, which leaves asyncio's event loop."""
    sys.exit(code)


def still_here() -> str:
    """Return a text, which proves that the process survived."""
    return "still here"
