"""Writes to both streams during its import, through Python and file descriptors."""

import os
import sys

print("import_noise: printed")
print("import_noise: to stderr", file=sys.stderr)
os.write(1, b"import_noise: written to 1\n")


def greet(name: str) -> str:
    """Greet somebody."""
    return "Hello, " + name
