"""Has no health function, so it is healthy once it is there."""


def work() -> str:
    """Does its work."""
    return "done"
