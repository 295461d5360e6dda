"""Hangs when its process is to end."""

import atexit
import os
import time


def pid() -> int:
    """The process's id."""
    return os.getpid()


atexit.register(time.sleep, 3600)
