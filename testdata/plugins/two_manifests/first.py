"""The entry of the manifest that counts."""


def which() -> str:
    """Which entry this is."""
    return "first"
