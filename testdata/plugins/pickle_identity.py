"""Pickles and copies its own classes, which needs a real module."""

import copy
import pickle
import sys


class Point:
    """A class that is pickled with its module's name."""

    def __init__(self, x):
        self.x = x


def round_trip() -> bool:
    """Whether a pickled copy has the same class."""
    return type(pickle.loads(pickle.dumps(Point(1)))) is Point and type(copy.deepcopy(Point(1))) is Point


def module() -> str:
    """The name of the module."""
    return __name__


def registered() -> bool:
    """Whether it is in sys.modules under that name, and is not __main__."""
    return sys.modules[__name__].Point is Point and sys.modules["__main__"] is not sys.modules[__name__]
