"""Lists a missing hook in __all__."""

__all__ = ["here", "gone"]


def here() -> str:
    """A hook that exists."""
    return "here"
