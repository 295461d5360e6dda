"""A valid plugin whose manifest has an unknown key."""


def greet(name: str) -> str:
    """Greet somebody."""
    return "Hello, " + name
