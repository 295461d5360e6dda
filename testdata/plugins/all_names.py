"""Lists its hooks in __all__."""

from os.path import basename

__all__ = ["first", "basename", "_special"]
__all__ += ["last"]


def last() -> str:
    """Listed last, though defined first."""
    return "last"


def first() -> str:
    """Listed first."""
    return "first"


def unlisted() -> str:
    """Not a hook."""
    return "unlisted"


def _special() -> str:
    """A hook, because it is listed."""
    return "special"
