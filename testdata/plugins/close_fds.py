"""Closes file descriptors that are not its own."""

import os
import time


def close(first: int = 0, last: int = 9) -> str:
    """Close them all, from first to last."""
    os.closerange(first, last + 1)
    return "closed"


def still_here() -> str:
    """Return a text, which proves that the process survived."""
    return "still here"


def close_protocol_and_stay(seconds: float = 3600.0):
    """Close pyplug's pipes, and keep running."""
    os.closerange(3, 1024)
    time.sleep(seconds)
