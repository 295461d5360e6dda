"""Leaves its process group, or closes its descriptors, and hangs."""

import os
import time


def hang(marker: str):
    """Start a daemon with two forks and its own session, then hang."""
    if os.fork() == 0:
        os.setsid()
        if os.fork() > 0:
            os._exit(0)
        open(marker, "w").close()
        time.sleep(3600)
        os._exit(0)
    time.sleep(3600)


def close_and_hang(marker: str):
    """Close every descriptor, then hang."""
    open(marker, "w").close()
    os.closerange(0, 1024)
    while True:
        time.sleep(3600)
