"""Carries its errors in what it returns."""


def items():
    """One good item, one that carries an error, one that must not come."""
    yield {"value": 1}
    yield {"error": "bad"}
    yield {"value": 3}
