"""Has a name that an import statement cannot use."""


def greet(name: str) -> str:
    """Greet somebody."""
    return "Hello from with-dash, " + name
