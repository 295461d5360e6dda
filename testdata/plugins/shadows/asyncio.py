"""Has the name of a package that the worker may load late."""


def greet(name: str) -> str:
    """Greet somebody."""
    return "Hello from asyncio, " + name
