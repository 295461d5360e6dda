"""Hangs in a loop inside the interpreter, where Python signal handlers never run."""

import os


def _mark(path: str):
    """Make an empty file, so that a test knows how far this came."""
    if path:
        open(path, "w").close()


def hang(marker: str = "") -> int:
    """Add a million million numbers."""
    _mark(marker)
    return sum(range(10**12))


def pid() -> int:
    """The process's id."""
    return os.getpid()
