"""Returns values that JSON cannot represent, and some edge cases that it can."""

import threading


class Opaque:
    """Has no representation."""

    def __repr__(self):
        return "<opaque>"


class BadRepr:
    """Has no working __repr__."""

    def __repr__(self):
        raise RuntimeError("no repr")


def nested():
    """An object at $.items[3]."""
    return {"items": [1, 2, 3, object()]}


def opaque():
    """An object of a custom class."""
    return Opaque()


def bad_repr():
    """An object whose repr raises, at $[0]."""
    return [BadRepr()]


def nan():
    """NaN at $.loss."""
    return {"loss": float("nan")}


def infinity():
    """Minus infinity at $[1]."""
    return [0.0, float("-inf")]


def circular():
    """A list that holds itself."""
    value = [1]
    value.append(value)
    return value


def circular_dict():
    """A dict that holds itself, at $.me."""
    value = {}
    value["me"] = value
    return value


def function():
    """A function."""
    return nested


def lock():
    """A lock at $.lock."""
    return {"lock": threading.Lock()}


def generator_inside():
    """A generator inside a list, at $[0]."""
    return [(n for n in range(3))]


def tuple_keys():
    """A dict whose key is a tuple."""
    return {(1, 2): "x"}


def mixed_keys():
    """A dict whose keys are of several types."""
    return {1: "one", "two": 2, None: 0, False: "no", 1.5: "half"}


def complex_number():
    """A complex number."""
    return 1 + 2j


def sets():
    """A set and a frozenset."""
    return {"set": {3, 1, 2}, "frozen": frozenset("a")}


def mixed_set():
    """A set whose members have no order."""
    return {1, "a", None}


def raw_bytes():
    """Bytes that are not text."""
    return b"\x00\xff\x80"


def bytes_inside():
    """Bytes at $.data."""
    return {"data": b"\x00\xff"}


def still_here() -> str:
    """Return a text, which proves that the process survived."""
    return "still here"
