"""Calls sys.exit during its import, as a script that checks its arguments does."""

import sys

if len(sys.argv) < 2:
    sys.exit("usage: import_sys_exit.py FILE")
