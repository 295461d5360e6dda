"""Has a health function that is an ordinary hook, because it needs an argument."""


def health(patient: str) -> str:
    """Return the health of a person."""
    return patient + " is fine"


def check() -> str:
    """A hook for the probe in a manifest."""
    return ""
