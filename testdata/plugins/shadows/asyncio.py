"""Has the name of a package that a host may load late."""


def greet(name: str) -> str:
    """Greet somebody."""
    return "Hello from asyncio, " + name
