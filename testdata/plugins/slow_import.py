"""Takes its time to import: SLOW_IMPORT seconds, 1 unless said otherwise.

Each import adds a line with its process's id to the file that SLOW_IMPORT_LOG names.
"""

import os
import time

if os.environ.get("SLOW_IMPORT_LOG"):
    with open(os.environ["SLOW_IMPORT_LOG"], "a") as _log:
        _log.write("%d\n" % os.getpid())

time.sleep(float(os.environ.get("SLOW_IMPORT", "1")))


def greet(name: str) -> str:
    """Greet somebody."""
    return "Hello, " + name


def pid() -> int:
    """Return the process id."""
    return os.getpid()


def crash(code: int = 7):
    """Exit at once."""
    os._exit(code)
