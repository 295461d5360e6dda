"""One of two files in a directory without a manifest."""


def which() -> str:
    """Return the name of this file."""
    return "one"
