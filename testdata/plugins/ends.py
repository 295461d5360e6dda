"""Leaves states of each kind, at import and later, that Python ends when it ends.

Each kind writes to a file of its own in the directory ENDS.
"""

import atexit
import bz2
import csv
import io
import logging
import logging.handlers
import os
import tempfile
import threading
import weakref

HERE = os.environ["ENDS"]


def path(name):
    return os.path.join(HERE, name)


def note(name, open=os.open, write=os.write, close=os.close, flags=os.O_WRONLY | os.O_CREAT | os.O_APPEND):
    """Adds a line to a file; it does so even when Python is almost gone."""
    file = open(path(name), flags)
    write(file, b"ended\n")
    close(file)


class Ending:
    def __init__(self, name, cycle=False):
        self.name = name
        self.cycle = self if cycle else None

    def __del__(self):
        note(self.name)


def closure(file):
    file.write("import, ")

    def write(x):
        file.write("%s\n" % x)

    return write


files = {
    "text": open(path("text"), "w"),
    "append": open(path("append"), "a"),
    "lines": open(path("lines"), "w", buffering=1),
    "utf16": open(path("utf16"), "w", encoding="utf-16"),
    "layers": io.TextIOWrapper(io.BufferedWriter(io.FileIO(path("layers"), "w"))),
}
for file in files.values():
    file.write("import, ")
binary = open(path("binary"), "wb")
binary.write(b"import, ")
unbuffered = open(path("unbuffered"), "wb", buffering=0)
unbuffered.write(b"import, ")
untouched = open(path("untouched"), "w")
untouched.write("import\n")
rows = csv.writer(open(path("rows"), "w"))
rows.writerow(["import"])
enclosed = closure(open(path("enclosed"), "w"))
log = logging.getLogger("ends")
log.setLevel("INFO")
log.propagate = False
log.addHandler(logging.FileHandler(path("log")))
log.addHandler(logging.handlers.MemoryHandler(100, target=logging.FileHandler(path("memory log"))))
log.info("import")
atexit.register(note, "atexit")
deleted, cycle = Ending("deleted"), Ending("cycle", True)
later = {}


def put(x: int):
    for file in files.values():
        file.write("%s\n" % x)
    binary.write(b"%d\n" % x)
    unbuffered.write(b"%d\n" % x)
    rows.writerow([x])
    enclosed(x)
    log.info("put %s", x)
    if not later:
        begin()
    later["file"].write("%s\n" % x)
    later["rows"].writerow([x])
    later["bz2"].write("%s\n" % x)
    return x


async def put_async(x: int):
    return put(x)


def put_stream(x: int):
    yield put(x)


def put_all():
    return [put(x) for x in (1, 2, 3)]


def begin():
    later["file"] = open(path("later"), "a")
    later["rows"] = csv.writer(open(path("later rows"), "w"))
    later["bz2"] = bz2.open(path("later bz2"), "wt")
    later["directory"] = tempfile.TemporaryDirectory(dir=HERE)
    later["temporary"] = tempfile.NamedTemporaryFile(dir=HERE)
    later["deleted"], later["cycle"] = Ending("later deleted"), Ending("later cycle", True)
    weakref.finalize(later["cycle"], note, "later finalize")
    atexit.register(note, "later atexit")
    main = threading.main_thread()
    threading.Thread(target=lambda: (main.join(), note("thread")), daemon=False).start()
    threading.Thread(target=threading.Event().wait, daemon=True).start()
