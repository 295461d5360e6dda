"""Keeps a count in memory, so that a restart is visible."""

import os

_count = 0


def increment(by: int = 1) -> int:
    """Increase the count and return it."""
    global _count
    _count += by
    return _count


def pid() -> int:
    """Return the process id."""
    return os.getpid()


def crash(code: int = 7):
    """Exit at once."""
    os._exit(code)


def crash_unless(marker: str) -> str:
    """Exit at once the first time; return if the file exists."""
    if os.path.exists(marker):
        return "survived"
    open(marker, "w").close()
    os._exit(7)
