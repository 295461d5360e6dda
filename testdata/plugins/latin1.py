# -*- coding: latin-1 -*-
"""Is not written in UTF-8."""


def greet(name: str) -> str:
    """Greet somebody."""
    return "Grüße, " + name
