"""Floods its standard output or error without ever ending the line."""

import sys


def flood(size: int = 1 << 30, stream: str = "stdout") -> int:
    """Write so many bytes, 1 GB unless said otherwise; how many it wrote."""
    out = getattr(sys, stream).buffer
    block, written = b"x" * 65536, 0
    while written < size:
        written += out.write(block[: size - written])
    out.flush()
    return written
