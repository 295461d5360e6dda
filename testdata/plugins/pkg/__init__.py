"""A plugin that is a package, with relative imports."""

from .inner import depth
from .text import shout

__all__ = ["greet", "shout", "depth", "lazy"]


def greet(name: str) -> str:
    """Greet somebody."""
    return shout("hello, " + name)


def lazy() -> str:
    """Import a submodule during the call."""
    from . import late

    return late.WORD
