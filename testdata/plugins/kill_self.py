"""Kills itself during a call, as the kernel does when memory runs out."""

import os
import signal


def crash(number: int = int(getattr(signal, "SIGKILL", signal.SIGTERM))):
    """Send a signal to this process, by default SIGKILL."""
    os.kill(os.getpid(), number)
