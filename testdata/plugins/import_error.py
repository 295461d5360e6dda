"""Imports a module that is not installed."""

import nosuchmodule_xyz


def greet(name: str) -> str:
    """Never reached."""
    return nosuchmodule_xyz.greet(name)
