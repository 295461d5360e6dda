"""Says in __all__ what its hooks are."""

from os.path import basename

__all__ = ["first", "basename", "_special"]
__all__ += ["last"]


def last() -> str:
    """Comes last, though it is defined first."""
    return "last"


def first() -> str:
    """Comes first."""
    return "first"


def unlisted() -> str:
    """Is no hook."""
    return "unlisted"


def _special() -> str:
    """Is one, as it is listed."""
    return "special"
