"""A valid plugin whose manifest is not TOML."""


def greet(name: str) -> str:
    """Greet somebody."""
    return "Hello, " + name
