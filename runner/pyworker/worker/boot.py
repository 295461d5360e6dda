"""Loads the parts of pyplug's worker, the files beside this one, as modules: X.py is _pyplug_X.

pyplug sends this file in the first frame, and runs Python as "-c CODE DESCRIPTORS CACHE IDENTITY …", where CODE
executes it. DESCRIPTORS are the numbers of those that are described in ../../proc: in, out, stdout and control. The path of the file that keeps the parts' byte code begins with CACHE. IDENTITY is a hash of their source. If the
file is missing, boot asks pyplug for the source. So a running worker needs nothing on the disk.

This file parses on Python 2.7, so that an old Python can report its version.
"""

import marshal
import os
import sys

source, sink = [int(number) for number in sys.argv[1].split()][:2]

if sys.version_info < (3, 9):
    old = '{"reason":"old","message":"python %d.%d.%d"}' % sys.version_info[:3]
    os.write(sink, (chr(len(old)) + "\0\0\0E\0\0\0\0" + old).encode("ascii"))
    sys.exit(0)

from _frozen_importlib_external import MAGIC_NUMBER, _write_atomic

program = {}  # part → its code as marshal writes it, or its source


def part(name):
    """Returns a part of the worker, loaded at its first use."""
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


def read_byte_code(path, identity):
    """Reads the byte code that an earlier worker has kept. Returns False if there is none for this source."""
    try:
        with open(path, "rb") as file:
            found, parts = marshal.loads(file.read())
    except (OSError, EOFError, TypeError, ValueError):
        return False
    if found == identity:
        program.update(parts)
    return bool(program)


def keep_byte_code(path, identity):
    """Keeps the byte code of all parts for the next worker, if the directory is writable."""
    if os.access(os.path.dirname(path), os.W_OK):
        program.update([(name, marshal.dumps(compiled(name))) for name in program])
        try:
            _write_atomic(path, marshal.dumps((identity, program)))
        except OSError:
            pass


def read_source():
    """Asks pyplug for the source of all parts."""
    os.write(sink, b"\0\0\0\0S\0\0\0\0")
    frame = b""
    while len(frame) < 9 or len(frame) < 9 + int.from_bytes(frame[:4], "little"):
        frame += os.read(source, 65536) or sys.exit()
    texts = frame[9:].decode().split("\0")
    program.update(zip(texts[::2], texts[1::2]))


def main(cache, identity):
    path = cache and cache + MAGIC_NUMBER.hex()
    if not read_byte_code(path, identity):
        read_source()
        keep_byte_code(path, identity)
    core = part("worker")
    core.part = part
    core.main()


main(*sys.argv[2:4])
