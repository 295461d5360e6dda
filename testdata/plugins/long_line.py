"""Prints one very long line."""

import sys


def say(size: int = 200_000, stream: str = "stdout") -> int:
    """Print a line of this many characters; return the number."""
    print("x" * size, file=getattr(sys, stream), flush=True)
    return size
