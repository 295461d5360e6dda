"""Ignores SIGTERM and SIGINT after its import."""

import os
import signal
import time

signal.signal(signal.SIGTERM, signal.SIG_IGN)
signal.signal(signal.SIGINT, signal.SIG_IGN)


def pid() -> int:
    """Return the process id."""
    return os.getpid()


def hang(marker: str = ""):
    """Sleep, and sleep again."""
    if marker:
        open(marker, "w").close()
    while True:
        time.sleep(3600)
