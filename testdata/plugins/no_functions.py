"""Has no hook, only a constant, a class and an imported function."""

from os.path import join

ANSWER = 42


class Greeter:
    """Callable, but not a hook."""


def _private():
    return join("a", "b")
