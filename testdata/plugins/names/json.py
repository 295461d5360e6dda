"""Has the name of a module of the standard library."""


def greet(name: str) -> str:
    """Greet somebody."""
    return "Hello from json, " + name
