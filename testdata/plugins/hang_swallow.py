"""Hangs in a loop that swallows every exception, KeyboardInterrupt too."""

import os
import time


def _mark(path: str):
    """Make an empty file, so that a test knows how far this came."""
    if path:
        open(path, "w").close()


def hang(marker: str = ""):
    """Never give up."""
    _mark(marker)
    while True:
        try:
            time.sleep(3600)
        except BaseException:
            pass


def pid() -> int:
    """The process's id."""
    return os.getpid()
