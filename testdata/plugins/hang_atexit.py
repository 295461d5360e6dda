"""Hangs when its process exits."""

import atexit
import os
import time


def pid() -> int:
    """Return the process id."""
    return os.getpid()


atexit.register(time.sleep, 3600)
