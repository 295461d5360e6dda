"""The other file."""


def which() -> str:
    """Return the name of this file."""
    return "two"
