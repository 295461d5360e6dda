"""Stops slowly."""

import atexit
import time


def linger(seconds: float, marker: str) -> str:
    """Exit only after this many seconds, then create the marker."""
    atexit.register(_end, seconds, marker)
    return "lingering"


def _end(seconds, marker):
    time.sleep(seconds)
    open(marker, "w").close()
