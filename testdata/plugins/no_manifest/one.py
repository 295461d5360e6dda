"""One of two files in a directory that says nothing about them."""


def which() -> str:
    """Which file this is."""
    return "one"
