"""Writes bytes that are not UTF-8."""

import os


def say() -> str:
    """Write them to both streams, alone and within a character."""
    for fd in (1, 2):
        os.write(fd, b"bad \xff\xfe byte\n")
        os.write(fd, b"half \xe2\x82 character\nnul \x00 byte\n")
    return "said"


def fail():
    """Raise a message with a lone surrogate, as an undecodable file name has."""
    raise ValueError("no such file: " + os.fsdecode(b"caf\xe9.txt"))
