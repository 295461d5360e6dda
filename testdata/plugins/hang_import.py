"""Hangs while it is imported."""

import os
import time

if os.environ.get("HANG_IMPORT_MARKER"):
    open(os.environ["HANG_IMPORT_MARKER"], "w").close()

time.sleep(3600)


def never():
    """Never reached."""
