"""Takes its time to end."""

import atexit
import time


def linger(seconds: float, marker: str) -> str:
    """End only after so many seconds, and make the marker then."""
    atexit.register(_end, seconds, marker)
    return "lingering"


def _end(seconds, marker):
    time.sleep(seconds)
    open(marker, "w").close()
