"""Imports itself, and must get the same module."""

import sys

_count = 0


def count() -> int:
    """Count through the imported module."""
    import self_import

    self_import._count += 1
    return _count


def same() -> bool:
    """Whether both are the same module."""
    import self_import

    return self_import is sys.modules[__name__]
