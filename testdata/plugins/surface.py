"""Has names of every kind, some of them hooks: plain, decorated, a method, a lambda."""

import functools
from os.path import basename
from os.path import join as joined


def _traced(function):
    """A typical decorator."""

    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return function(*args, **kwargs)

    return wrapper


def _bare(function):
    """A decorator without functools.wraps."""

    def wrapper(*args, **kwargs):
        return function(*args, **kwargs)

    return wrapper


def plain(x: int = 1) -> int:
    """A function."""
    return x


@_traced
def decorated(x: int = 2) -> int:
    """A decorated function."""
    return x


@_bare
def unwrapped(x: int = 3) -> int:
    """A decorated function that lost its name."""
    return x


@functools.lru_cache(maxsize=None)
def cached(x: int = 4) -> int:
    """A cached function."""
    return x


short = lambda x=5: x  # noqa: E731

partial = functools.partial(plain, 6)

if True:

    def conditional() -> int:
        """Defined under a condition."""
        return 7


def _private():
    return basename(joined("a", "b"))


class Calculator:
    """A class, which is not a hook."""

    def add(self, a: int, b: int) -> int:
        """A method of a public object, a hook by its dotted path."""
        return a + b

    def _hidden(self):
        return None


calculator = Calculator()
_secret = Calculator()
