"""A package inside the package, which imports upwards."""

from ..text import shout


def depth() -> str:
    """Where this stands."""
    return shout(__name__)
