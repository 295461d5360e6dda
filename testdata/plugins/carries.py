"""Returns errors inside its results."""


def items():
    """A good item, one with an error inside, and one that must not arrive."""
    yield {"value": 1}
    yield {"error": "bad"}
    yield {"value": 3}
