"""Loads the parts of pyplug's worker, the other files in this directory, as modules: X.py is _pyplug_X.

It runs in the globals of boot.py, which has set `program`: part → its code as marshal writes it, or its source. So a
running worker does not need these files. `entry` is the part that runs, with the arguments `given`.
"""

import marshal
import os
import sys


def part(name):
    """Returns a part of the worker. It loads the part at its first use."""
    full = "_pyplug_" + name
    if full not in sys.modules:
        code = program[name]
        code = marshal.loads(code) if type(code) is bytes else compiled(name)
        module = sys.modules[full] = type(sys)(full)
        try:
            exec(code, module.__dict__)
        except BaseException:
            del sys.modules[full]
            raise
    return sys.modules[full]


def compiled(name):
    return compile(program[name], "<pyplug %s>" % name, "exec")


def keep_byte_code():
    """Stores the byte code of all parts for the next worker, if the directory is writable."""
    from _frozen_importlib_external import _write_atomic

    if os.access(os.path.dirname(kept), os.W_OK):
        program.update([(name, marshal.dumps(compiled(name))) for name in program])
        try:
            _write_atomic(kept, marshal.dumps((sys.argv[3], program)))
        except OSError:
            pass


if kept and type(program["parts"]) is str:
    keep_byte_code()
core = part("worker")
core.part = part
part(entry).main(*given)
