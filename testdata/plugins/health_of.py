"""Has a health function that is a hook like others: it needs an argument."""


def health(patient: str) -> str:
    """How somebody is."""
    return patient + " is fine"


def check() -> str:
    """What a manifest's probe may name."""
    return ""
