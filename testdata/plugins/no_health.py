"""Has no health function, so it is healthy while it runs."""


def work() -> str:
    """Does some work."""
    return "done"
