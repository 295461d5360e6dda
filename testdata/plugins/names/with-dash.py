"""Has a name that no import statement can say."""


def greet(name: str) -> str:
    """Greet somebody."""
    return "Hello from with-dash, " + name
