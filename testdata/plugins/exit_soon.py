"""Exits while idle: when the file that EXIT_SOON names exists, or else shortly after the import."""

import os
import threading
import time


def _end():
    marker = os.environ.get("EXIT_SOON")
    time.sleep(0.005 if marker else 0.3)
    while marker and not os.path.exists(marker):
        time.sleep(0.005)
    os._exit(4)


threading.Thread(target=_end, daemon=True).start()


def pid() -> int:
    return os.getpid()
