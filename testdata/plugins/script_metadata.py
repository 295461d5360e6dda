"""Requires a Python that does not exist (PEP 723)."""

# /// script
# requires-python = ">=3.99"
# dependencies = ["nosuchmodule-xyz"]
# ///


def greet(name: str) -> str:
    """Greet somebody."""
    return "Hello, " + name
