"""Hangs while it waits for a child process."""

import os
import subprocess
import sys


def hang(marker: str = "", seconds: float = 3600.0):
    """Wait for a child that sleeps for an hour; write its id to the marker."""
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(%r)" % seconds])
    if marker:
        with open(marker + ".new", "w") as file:
            file.write(str(child.pid))
        os.replace(marker + ".new", marker)
    child.wait()


def pid() -> int:
    """Return the process id."""
    return os.getpid()
