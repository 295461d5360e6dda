"""Ends its process with exit code 7 during a call."""

import os
import sys


def exit(code: int = 7, words: str = ""):
    """End at once, without any clean-up; words go to standard error first."""
    if words:
        print(words, file=sys.stderr, flush=True)
    os._exit(code)


def pid() -> int:
    """The process's id."""
    return os.getpid()
