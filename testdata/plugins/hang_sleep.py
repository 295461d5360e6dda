"""Hangs in time.sleep, which a signal interrupts."""

import os
import time


def _mark(path: str):
    """Create an empty file, so that a test can observe the progress."""
    if path:
        open(path, "w").close()


def hang(marker: str = "", seconds: float = 3600.0):
    """Sleep for an hour."""
    _mark(marker)
    time.sleep(seconds)


def pid() -> int:
    """Return the process id."""
    return os.getpid()
