"""The entry in pyplug.toml."""


def which() -> str:
    """Return the name of this entry."""
    return "first"
