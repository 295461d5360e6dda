"""Exits with code 7 during a call."""

import os
import sys


def exit(code: int = 7, words: str = ""):
    """Write to standard error, then exit without any clean-up."""
    if words:
        print(words, file=sys.stderr, flush=True)
    os._exit(code)


def pid() -> int:
    """Return the process id."""
    return os.getpid()
