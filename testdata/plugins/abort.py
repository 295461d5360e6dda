"""Aborts during a call, as a failed assertion in C does."""

import os


def crash():
    """SIGABRT."""
    os.abort()
