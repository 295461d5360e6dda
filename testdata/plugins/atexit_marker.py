"""Leaves a file when its process ends as a Python program should."""

import atexit
import os


def arm(marker: str) -> int:
    """Write the marker at exit; the process's id."""

    def leave():
        with open(marker, "w") as file:
            file.write("clean")

    atexit.register(leave)
    return os.getpid()
