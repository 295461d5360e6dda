"""Writes a file if its process exits normally."""

import atexit
import os


def arm(marker: str) -> int:
    """Write the marker at exit; return the process id."""

    def leave():
        with open(marker, "w") as file:
            file.write("clean")

    atexit.register(leave)
    return os.getpid()
