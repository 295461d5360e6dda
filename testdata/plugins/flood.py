"""Floods its standard output or error with short lines."""

import sys


def flood(size: int = 1 << 30, stream: str = "stdout") -> int:
    """Write about this many bytes, by default 1 GB; return the number written."""
    out = getattr(sys, stream).buffer
    block = b"".join(b"flood line %06d\n" % n for n in range(4096))
    written = 0
    while written < size:
        out.write(block)
        written += len(block)
    out.flush()
    return written
