"""Floods its standard output or error without a newline."""

import sys


def flood(size: int = 1 << 30, stream: str = "stdout") -> int:
    """Write this many bytes, by default 1 GB; return the number written."""
    out = getattr(sys, stream).buffer
    block, written = b"x" * 65536, 0
    while written < size:
        written += out.write(block[: size - written])
    out.flush()
    return written
