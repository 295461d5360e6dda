"""A small client of the worker's protocol, for the tests beside it.

It starts the worker as pyplug does. Nothing here waits by the clock:
a hook that a test meets while it runs writes a byte into the client's pipe.
"""

import atexit
import faulthandler
import itertools
import json
import os
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
import unittest

if hasattr(sys, "set_int_max_str_digits"):
    sys.set_int_max_str_digits(0)  # the worker's integers are of any length

SOURCES = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SCRATCH = tempfile.mkdtemp(prefix="pyplug-test-")
CACHE = os.path.join(SCRATCH, "cache", "worker-")  # what the names of byte code begin with
COUNT = itertools.count()
SLOW = re.compile("(?m)^Executing <.*> took [0-9.]+ seconds\n")  # asyncio's report of a busy machine, in its debug mode
LIMIT = 240  # seconds after which a hanging test run shows its stacks and ends

atexit.register(shutil.rmtree, SCRATCH, ignore_errors=True)
faulthandler.dump_traceback_later(LIMIT, exit=True)


def read_text(name):
    with open(os.path.join(SOURCES, name), encoding="utf-8") as file:
        return file.read()


BOOT = read_text("boot.py").encode()
RUN_BOOT = 'import os,sys;pyplug={};exec(os.read(int(sys.argv[1].split()[0]),4096)[9:],pyplug);exec(pyplug["code"],pyplug)'
PARTS = [name[:-3] for name in sorted(os.listdir(SOURCES)) if name.endswith(".py")]
SOURCE = "\0".join(text for name in PARTS for text in (name, read_text(name + ".py"))).encode()
os.mkdir(os.path.dirname(CACHE))


def command(descriptors, path, stacks, nan="error", probe="", calls="", preload="", convert="", cache=CACHE, code=RUN_BOOT, name=""):
    """The arguments that a Python runs the worker with. With a name, the file is a module of a package."""
    numbers = " ".join(map(str, descriptors))
    return ["-c", code, numbers, cache, "identity", path, *place(path, name), str(stacks), nan, probe, calls or "", preload, convert]


def place(path, name):
    """The words of a file's place: Place in ../../../../interp/pysrc."""
    path = os.path.realpath(path)
    if os.path.isdir(path):
        path = os.path.join(path, "__init__.py")
    root = own = os.path.dirname(path)
    for _ in range(name.count(".") + path.endswith("__init__.py")):
        root = os.path.dirname(root)
    return [name, path, root, root, "", own if name else ""]


def write(path, text):
    """Writes a file below the scratch directory, old enough for its byte code to be kept."""
    path = os.path.join(SCRATCH, path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(textwrap.dedent(text))
    os.utime(path, (1000000000, 1000000000))
    return path


class Worker:
    """One worker with one plugin."""

    def __init__(self, path, nan="error", probe="", env=None, python=sys.executable, stacks=0, cwd=None, calls=None, convert="", cache=CACHE, name=""):
        self.errors = tempfile.TemporaryFile(dir=SCRATCH)
        self.marks, marker = os.pipe()
        source, sink = os.pipe(), os.pipe()
        self.sink, self.source = open(source[1], "wb", 0), open(sink[0], "rb", 0)
        arguments = [python] + command((source[0], sink[1], 1, 0), path, stacks, nan, probe, calls, convert=convert, cache=cache, name=name)
        environment = dict(os.environ, MARKER=str(marker), **(env or {}))
        self.process = subprocess.Popen(
            arguments,
            env=environment,
            cwd=cwd,
            pass_fds=[marker, source[0], sink[1]],
            stdin=subprocess.DEVNULL,
            stdout=self.errors,
            stderr=self.errors,
        )
        for theirs in (marker, source[0], sink[1]):
            os.close(theirs)
        self.path, self.number = path, 0
        self.files = None  # as the worker reported them last
        self.left = b""
        self.compiled = False  # the byte code was not kept
        try:
            self.send("L", 0, BOOT)
        except BrokenPipeError:
            pass  # an old Python is gone by now
        self.hello = self.receive()
        self.ready = self.receive() if self.hello[0] == "H" else self.hello

    def send(self, kind, number, body=b""):
        self.sink.write(packed(kind, number, body))

    def receive(self):
        """The next frame but reports of files, as (type, number, value); None at the end, which the worker reports."""
        head = self.take(9)
        if len(head) < 9:
            return None
        body = self.take(int.from_bytes(head[:4], "little"))
        kind = chr(head[4])
        value = body if kind in "BJ" else json.loads(body.decode("utf-8")) if body else None
        if kind == "S":
            self.compiled = True
            self.send("S", 0, SOURCE)
            return self.receive()
        if kind == "X":
            return None
        if kind == "F":
            self.files = value
            return self.receive()
        if kind == "Y":
            self.files = value.pop("files")
        return kind, int.from_bytes(head[5:], "little"), value

    def take(self, size):
        while len(self.left) < size:
            chunk = self.source.read(1 << 20)
            if not chunk:
                break
            self.left += chunk
        taken, self.left = self.left[:size], self.left[size:]
        return taken

    def begin(self, hook, *args, **kwargs):
        """Sends a call and returns its number."""
        self.number += 1
        self.send("C", self.number, {"hook": hook, "args": args, "kwargs": kwargs})
        return self.number

    def answer(self, number):
        """The next frame, which is for this call: (type, value).

        That is not where the call is, which is reported if an interrupt takes long.
        """
        found = self.receive()
        while found is not None and found[0] == "T":
            found = self.receive()
        if found is None or found[1] != number:
            raise AssertionError("frame %r, want one for call %d; stderr:\n%s" % (found, number, self.stderr()))
        return found[0], found[2]

    def call(self, hook, *args, **kwargs):
        return self.answer(self.begin(hook, *args, **kwargs))

    def stream(self, number):
        """The items of a stream, and what ended it."""
        items = []
        while True:
            kind, value = self.answer(number)
            if kind not in "IJ":
                return items, kind, value
            items.append(value)

    def ask(self, kind, body=b""):
        self.number += 1
        self.send(kind, self.number, body)
        return self.answer(self.number)

    def wait_mark(self):
        """Waits until a hook says where it is."""
        return os.read(self.marks, 1)

    def interrupt(self):
        self.process.send_signal(signal.SIGINT)

    def interrupted(self, number):
        """Interrupts a call and returns its answer.

        Python itself loses a signal that comes just before a blocking system call
        begins: it is seen when that returns. So one is sent until there is an answer.
        """
        while not self.left:
            self.interrupt()
            if select.select([self.source], [], [], 3)[0]:
                break
        return self.answer(number)

    def stderr(self):
        self.errors.seek(0)
        return SLOW.sub("", self.errors.read().decode("utf-8", "replace"))

    def stop(self):
        """Asks the worker to end; returns its exit code."""
        if self.process.poll() is None:
            try:
                self.send("Q", 0)
            except BrokenPipeError:
                pass
        return self.close()

    def close(self):
        if not self.sink.closed:
            self.sink.close()
            self.source.read()
            self.source.close()
            self.process.wait()
            os.close(self.marks)
        return self.process.returncode


def packed(kind, number, body=b""):
    """The bytes of a frame."""
    if not isinstance(body, bytes):
        body = json.dumps(body).encode("ascii")
    return len(body).to_bytes(4, "little") + kind.encode("ascii") + number.to_bytes(4, "little") + body


class Case(unittest.TestCase):
    """Tests that share one worker, unless one makes its own."""

    PLUGIN = None  # the source of the shared worker's file
    OPTIONS = {}

    @classmethod
    def setUpClass(cls):
        if cls.PLUGIN is not None:
            path = write(os.path.join(cls.__name__, "plug.py"), cls.PLUGIN)
            cls.worker = Worker(path, **cls.OPTIONS)
            if cls.worker.ready[0] != "Y":
                raise AssertionError(cls.worker.ready)

    @classmethod
    def tearDownClass(cls):
        if cls.PLUGIN is not None:
            cls.worker.stop()
            cls.worker.errors.close()

    def start(self, text, name="plug.py", **options):
        """A worker for one test."""
        # A directory for each: files that differ in nothing Python looks at share byte code.
        worker = Worker(write(os.path.join(self.id(), str(next(COUNT)), name), text), **options)
        self.addCleanup(worker.errors.close)
        self.addCleanup(worker.stop)
        return worker

    def ok(self, answer, value):
        self.assertEqual(answer, ("R", value))

    def refused(self, answer, reason):
        kind, value = answer
        self.assertEqual((kind, isinstance(value, dict) and value.get("reason")), ("E", reason), value)
        return value
