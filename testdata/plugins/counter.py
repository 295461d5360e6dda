"""Keeps a count in memory, so that a restart shows."""

import os

_count = 0


def increment(by: int = 1) -> int:
    """Count; how far."""
    global _count
    _count += by
    return _count


def pid() -> int:
    """The process's id."""
    return os.getpid()


def crash(code: int = 7):
    """End at once."""
    os._exit(code)


def crash_unless(marker: str) -> str:
    """End at once the first time; answer when the file is there."""
    if os.path.exists(marker):
        return "survived"
    open(marker, "w").close()
    os._exit(7)
