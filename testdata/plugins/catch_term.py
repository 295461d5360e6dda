"""Ends on SIGTERM only after it has tidied up, and leaves a file to prove it."""

import os
import signal
import sys


def arm(marker: str) -> int:
    """Write the marker when SIGTERM comes, then exit 0; the process's id."""

    def tidy(number, frame):
        with open(marker, "w") as file:
            file.write("tidied up")
        sys.exit(0)

    signal.signal(signal.SIGTERM, tidy)
    return os.getpid()
