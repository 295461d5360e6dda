"""A hook that may end its process."""
import ctypes


def work(n: int, crash: bool = False) -> int:
    return ctypes.string_at(0) if crash else n * n
