"""A valid plugin beside files with the names of modules that the worker may need."""


def greet(name: str) -> str:
    """Greet somebody."""
    return "Hello, " + name


async def later(name: str) -> str:
    """Greet somebody from a coroutine."""
    return "Hello later, " + name


def count(n: int = 3):
    """Yield this many numbers."""
    for i in range(n):
        yield i


def fail():
    """Raise."""
    raise ValueError("beside shadows")
