"""Dies of a segmentation fault during its import."""

import ctypes

ctypes.string_at(0)
