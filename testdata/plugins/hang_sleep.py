"""Hangs in time.sleep, which a signal ends."""

import os
import time


def _mark(path: str):
    """Make an empty file, so that a test knows how far this came."""
    if path:
        open(path, "w").close()


def hang(marker: str = "", seconds: float = 3600.0):
    """Sleep for an hour."""
    _mark(marker)
    time.sleep(seconds)


def pid() -> int:
    """The process's id."""
    return os.getpid()
