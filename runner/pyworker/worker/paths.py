"""Finds out where Python looks for the modules of a plugin's file. Loaded at a start, and by check."""

import os


def search_path(path, first, behind, last):
    """Returns a search path with first, with behind directly after the standard library, and with last. It skips ""."""
    library = os.path.dirname(os.__file__)
    parts = (library, os.path.join(library, "lib-dynload"))
    after = max((at for at, part in enumerate(path, 1) if part in parts), default=0)
    found = [first, *path[:after], behind, *path[after:], last]
    return list(dict.fromkeys(part for part in found if part))
