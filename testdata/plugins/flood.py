"""Floods its standard output or error with short lines."""

import sys


def flood(size: int = 1 << 30, stream: str = "stdout") -> int:
    """Write about so many bytes, 1 GB unless said otherwise; how many it wrote."""
    out = getattr(sys, stream).buffer
    block = b"".join(b"flood line %06d\n" % n for n in range(4096))
    written = 0
    while written < size:
        out.write(block)
        written += len(block)
    out.flush()
    return written
