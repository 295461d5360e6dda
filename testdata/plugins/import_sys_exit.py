"""Calls sys.exit while it is imported, as a script does that checks its arguments."""

import sys

if len(sys.argv) < 2:
    sys.exit("usage: import_sys_exit.py FILE")
