"""Hangs in a loop inside the interpreter, where Python signal handlers never run."""

import os


def _mark(path: str):
    """Create an empty file, so that a test can observe the progress."""
    if path:
        open(path, "w").close()


def hang(marker: str = "") -> int:
    """Add a million million numbers."""
    _mark(marker)
    return sum(range(10**12))


def pid() -> int:
    """Return the process id."""
    return os.getpid()
