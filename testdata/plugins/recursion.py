"""Recurses without end, or answers with a value that does."""


def recurse(n: int = 0) -> int:
    """RecursionError."""
    return recurse(n + 1) + 1


def nested(depth: int = 100000) -> list:
    """A list in a list in a list, so deep."""
    value = []
    for _ in range(depth):
        value = [value]
    return value
