"""Has the name of a module that Python itself needs."""


def greet(name: str) -> str:
    """Greet somebody."""
    return "Hello from types, " + name
