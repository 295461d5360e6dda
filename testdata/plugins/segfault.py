"""Dies of a segmentation fault during a call."""

import ctypes


def crash():
    """Read address 0."""
    return ctypes.string_at(0)
