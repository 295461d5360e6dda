"""Recurses without end, or returns a deeply nested value."""


def recurse(n: int = 0) -> int:
    """RecursionError."""
    return recurse(n + 1) + 1


def nested(depth: int = 100000) -> list:
    """Lists nested to this depth."""
    value = []
    for _ in range(depth):
        value = [value]
    return value
