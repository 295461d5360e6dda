"""Has the name of a standard library module."""


def greet(name: str) -> str:
    """Greet somebody."""
    return "Hello from json, " + name
