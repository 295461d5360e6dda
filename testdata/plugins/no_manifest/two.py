"""The other file."""


def which() -> str:
    """Which file this is."""
    return "two"
