"""Has letters outside ASCII in its name."""


def greet(name: str) -> str:
    """Greet somebody."""
    return "Hello from ünï, " + name
