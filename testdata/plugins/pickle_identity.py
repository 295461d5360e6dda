"""Needs its module to be a real one: pickles and copies its own classes."""

import copy
import pickle
import sys


class Point:
    """A class that is pickled by its module's name."""

    def __init__(self, x):
        self.x = x


def round_trip() -> bool:
    """Whether what comes back is of the same class."""
    return type(pickle.loads(pickle.dumps(Point(1)))) is Point and type(copy.deepcopy(Point(1))) is Point


def module() -> str:
    """The name that the module has."""
    return __name__


def registered() -> bool:
    """Whether it stands in sys.modules under that name, and is not __main__."""
    return sys.modules[__name__].Point is Point and sys.modules["__main__"] is not sys.modules[__name__]
