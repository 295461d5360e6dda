"""A subpackage that imports from its parent."""

from ..text import shout


def depth() -> str:
    """The name of this package."""
    return shout(__name__)
