"""The entry of the manifests that do not."""


def which() -> str:
    """Which entry this is."""
    return "second"
