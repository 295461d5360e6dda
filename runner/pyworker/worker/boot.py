"""Finds the code of parts.py: the byte code that an earlier worker has stored, or the source, which pyplug sends.

pyplug sends this file in the first frame, and runs Python as "-c CODE DESCRIPTORS CACHE IDENTITY ...". CODE executes
this file, and then the code that it finds. DESCRIPTORS are the numbers of the descriptors in, out, stdout, control and
event, see ../../proc. CACHE is the beginning of the path of the byte code file. IDENTITY is a hash of the source. Every
start compiles this file, so it is short. It parses on Python 2.7, so that an old Python can report its version.
"""

import marshal
import os
import sys

source, sink = [int(number) for number in sys.argv[1].split()][:2]

if sys.version_info < (3, 9):
    old = '{"reason":"old","message":"python %d.%d.%d"}' % sys.version_info[:3]
    os.write(sink, (chr(len(old)) + "\0\0\0E\0\0\0\0" + old).encode("ascii"))
    sys.exit(0)

from _frozen_importlib_external import MAGIC_NUMBER

entry, given = "worker", ()
kept = sys.argv[2] and sys.argv[2] + MAGIC_NUMBER.hex()
try:
    with open(kept, "rb") as file:
        identity, program = marshal.loads(file.read())
except (OSError, EOFError, TypeError, ValueError):
    identity = None
if identity == sys.argv[3]:
    code = marshal.loads(program["parts"])
else:
    os.write(sink, b"\0\0\0\0S\0\0\0\0")
    frame = b""
    while len(frame) < 9 or len(frame) < 9 + int.from_bytes(frame[:4], "little"):
        frame += os.read(source, 65536) or sys.exit()
    texts = frame[9:].decode().split("\0")
    program = dict(zip(texts[::2], texts[1::2]))
    code = compile(program["parts"], "<pyplug parts>", "exec")
