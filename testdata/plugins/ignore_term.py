"""Ignores SIGTERM and SIGINT from its import on."""

import os
import signal
import time

signal.signal(signal.SIGTERM, signal.SIG_IGN)
signal.signal(signal.SIGINT, signal.SIG_IGN)


def pid() -> int:
    """The process's id."""
    return os.getpid()


def hang(marker: str = ""):
    """Sleep, and sleep again."""
    if marker:
        open(marker, "w").close()
    while True:
        time.sleep(3600)
