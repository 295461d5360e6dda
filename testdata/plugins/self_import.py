"""Imports itself, and must get the same module again."""

import sys

_count = 0


def count() -> int:
    """Count by way of the imported module."""
    import self_import

    self_import._count += 1
    return _count


def same() -> bool:
    """Whether both are one."""
    import self_import

    return self_import is sys.modules[__name__]
