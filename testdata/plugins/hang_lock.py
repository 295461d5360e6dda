"""Hangs in a deadlock: it waits for a lock that it holds."""

import os
import threading


def _mark(path: str):
    """Create an empty file, so that a test can observe the progress."""
    if path:
        open(path, "w").close()


def hang(marker: str = ""):
    """Take a lock twice."""
    lock = threading.Lock()
    lock.acquire()
    _mark(marker)
    lock.acquire()


def pid() -> int:
    """Return the process id."""
    return os.getpid()
