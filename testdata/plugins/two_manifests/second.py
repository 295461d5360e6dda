"""The entry in the other manifest."""


def which() -> str:
    """Return the name of this entry."""
    return "second"
