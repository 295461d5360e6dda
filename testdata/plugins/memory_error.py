"""Runs out of memory, or only allocates much of it."""

_kept = []


def fail():
    """Request too much memory: a MemoryError without an allocation."""
    return len(bytearray(1 << 62))


def grow(megabytes: int = 100) -> int:
    """Allocate and keep this many megabytes; return the total."""
    _kept.append(bytearray(b"\x01") * (megabytes << 20))
    return sum(map(len, _kept)) >> 20
