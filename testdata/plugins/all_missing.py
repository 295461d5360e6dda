"""Lists a hook in __all__ that it does not have."""

__all__ = ["here", "gone"]


def here() -> str:
    """Is there."""
    return "here"
