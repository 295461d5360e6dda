"""Has no hook: a constant, a class and an imported function only."""

from os.path import join

ANSWER = 42


class Greeter:
    """Looks callable, and is no hook."""


def _private():
    return join("a", "b")
