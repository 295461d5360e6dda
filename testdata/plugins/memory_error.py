"""Runs out of memory, or only takes much of it."""

_kept = []


def fail():
    """Ask for more than there is: a MemoryError that takes no memory."""
    return len(bytearray(1 << 62))


def grow(megabytes: int = 100) -> int:
    """Take so much more, touch it and keep it; the size so far in megabytes."""
    _kept.append(bytearray(b"\x01") * (megabytes << 20))
    return sum(map(len, _kept)) >> 20
