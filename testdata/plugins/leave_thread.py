"""Leaves a thread that prevents the process from exiting."""

import os
import threading


def start() -> int:
    """Start a thread that waits forever; return the process id."""
    threading.Thread(target=threading.Event().wait).start()
    return os.getpid()
