"""Writes to both streams while it is imported, by Python and by file descriptor."""

import os
import sys

print("import_noise: printed")
print("import_noise: to stderr", file=sys.stderr)
os.write(1, b"import_noise: written to 1\n")


def greet(name: str) -> str:
    """Greet somebody."""
    return "Hello, " + name
