"""Exits during its import."""

import os
import sys

print("import_exit: giving up", file=sys.stderr, flush=True)
os._exit(3)
