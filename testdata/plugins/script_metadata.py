"""Says in its comments which Python it needs (PEP 723), one that no machine has."""

# /// script
# requires-python = ">=3.99"
# dependencies = ["nosuchmodule-xyz"]
# ///


def greet(name: str) -> str:
    """Greet somebody."""
    return "Hello, " + name
