"""Has the name of a module that the worker may load late."""


def greet(name: str) -> str:
    """Greet somebody."""
    return "Hello from traceback, " + name
