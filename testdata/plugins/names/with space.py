"""Has a space in its name."""


def greet(name: str) -> str:
    """Greet somebody."""
    return "Hello from with space, " + name
