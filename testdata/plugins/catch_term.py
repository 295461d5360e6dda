"""Cleans up on SIGTERM, writes a file to prove it, and exits."""

import os
import signal
import sys


def arm(marker: str) -> int:
    """On SIGTERM, write the marker and exit with 0; return the process id."""

    def tidy(number, frame):
        with open(marker, "w") as file:
            file.write("tidied up")
        sys.exit(0)

    signal.signal(signal.SIGTERM, tidy)
    return os.getpid()
