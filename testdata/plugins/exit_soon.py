"""Ends by itself a moment after it was loaded, while nobody calls it."""

import os
import threading

threading.Timer(0.3, os._exit, [4]).start()


def pid() -> int:
    return os.getpid()
