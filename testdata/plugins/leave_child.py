"""Leaves a child process behind that holds its standard output and error."""

import os
import subprocess
import sys


def leave(seconds: float = 3600.0) -> int:
    """Start a child that sleeps for an hour; return its id."""
    return subprocess.Popen([sys.executable, "-c", "import time; time.sleep(%r)" % seconds]).pid


def leave_and_exit(code: int = 7, seconds: float = 3600.0):
    """Start a child and exit: the streams stay open without the plugin."""
    leave(seconds)
    os._exit(code)
