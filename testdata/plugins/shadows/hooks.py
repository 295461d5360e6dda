"""Is fine itself; the files beside it have the names of modules that its host may need."""


def greet(name: str) -> str:
    """Greet somebody."""
    return "Hello, " + name


async def later(name: str) -> str:
    """Greet somebody, in a coroutine."""
    return "Hello later, " + name


def count(n: int = 3):
    """So many numbers."""
    for i in range(n):
        yield i


def fail():
    """Raise."""
    raise ValueError("beside shadows")
