"""Fine itself; its manifest is no TOML."""


def greet(name: str) -> str:
    """Greet somebody."""
    return "Hello, " + name
