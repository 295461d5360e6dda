"""A friendly plugin: the one of the README."""


def greet(name: str, greeting: str = "Hello") -> str:
    """Greet somebody."""
    return f"{greeting}, {name}"


def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


def divide(a: float, b: float) -> float:
    """Divide a by b; raises ZeroDivisionError when b is 0."""
    return a / b


def countdown(start: int = 3):
    """Count down to 1, one item at a time."""
    for n in range(start, 0, -1):
        yield n


async def fetch(url: str, delay: float = 0.0) -> dict:
    """Pretend to fetch a page."""
    import asyncio

    await asyncio.sleep(delay)
    return {"url": url, "status": 200}


def health():
    """Healthy."""
    return True
