"""Provides a small client of the worker's protocol for the tests in this directory.

It starts the worker as pyplug does. The tests do not wait by the clock: a hook writes a byte into the client's pipe when
it has reached a point that a test waits for.
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
import threading
import unittest

if hasattr(sys, "set_int_max_str_digits"):
    sys.set_int_max_str_digits(0)  # the worker sends integers of any length

SOURCES = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SCRATCH = tempfile.mkdtemp(prefix="pyplug-test-")
CACHE = os.path.join(SCRATCH, "cache", "worker-")  # the beginning of the paths of byte code files
COUNT = itertools.count()
SLOW = re.compile("(?m)^Executing <.*> took [0-9.]+ seconds\n")  # asyncio's report of a busy machine, in its debug mode
LIMIT = 600  # seconds after which a hanging test run prints its stacks and exits

atexit.register(shutil.rmtree, SCRATCH, ignore_errors=True)
faulthandler.dump_traceback_later(LIMIT, exit=True)


def read_text(name):
    with open(os.path.join(SOURCES, name), encoding="utf-8") as file:
        return file.read()


BOOT = read_text("boot.py").encode()
RUN_BOOT = 'import os,sys;pyplug={};exec(os.read(int(sys.argv[1].split()[0]),4096)[9:],pyplug);exec(pyplug["code"],pyplug)'
if os.name == "nt":  # the process inherits handles
    import ctypes
    import msvcrt

    kernel = ctypes.WinDLL("kernel32")
    kernel.CreateEventW.restype = ctypes.c_void_p
    PREPARE = """import msvcrt,os,sys;at=sys.argv[1].split();at[:2]=[str(msvcrt.open_osfhandle(int(one),0)) for one in at[:2]]
sys.argv[1]=" ".join(at);os.environ["MARKER"]=str(msvcrt.open_osfhandle(int(os.environ["MARKER"]),0))
"""
    RUN_BOOT = PREPARE + RUN_BOOT
PARTS = [name[:-3] for name in sorted(os.listdir(SOURCES)) if name.endswith(".py")]
SOURCE = "\0".join(text for name in PARTS for text in (name, read_text(name + ".py"))).encode()
os.mkdir(os.path.dirname(CACHE))


def command(descriptors, path, stacks, nan="error", probe="", calls="", preload="", convert="", cache=CACHE, code=RUN_BOOT, name=""):
    """Returns the arguments of a Python that runs the worker. If name is set, the file is a module of a package."""
    numbers = " ".join(map(str, descriptors))
    return ["-c", code, numbers, cache, "identity", path, *place(path, name), str(stacks), nan, probe, calls or "", preload, convert]


def place(path, name):
    """Returns the words of a file's place, see Place in ../../../../interp/pysrc."""
    path = os.path.realpath(path)
    if os.path.isdir(path):
        path = os.path.join(path, "__init__.py")
    root = own = os.path.dirname(path)
    for _ in range(name.count(".") + path.endswith("__init__.py")):
        root = os.path.dirname(root)
    return [name, path, root, root, "", own if name else ""]


def write(path, text):
    """Writes a file below the scratch directory. The file is so old that its byte code is stored."""
    path = os.path.join(SCRATCH, path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(textwrap.dedent(text))
    os.utime(path, (1000000000, 1000000000))
    return path


class Worker:
    """Runs one worker with one plugin."""

    def __init__(self, path, nan="error", probe="", env=None, python=sys.executable, stacks=0, cwd=None, calls=None, convert="", cache=CACHE, name=""):
        self.errors = tempfile.TemporaryFile(dir=SCRATCH)
        self.marks, marker = os.pipe()
        source, sink = os.pipe(), os.pipe()
        self.sink, self.source = open(source[1], "wb", 0), open(sink[0], "rb", 0)
        self.event, self.late = 0, os.name == "nt" and not calls
        calls = "pipeline" if self.late else calls
        theirs, inherited = self.inherit([marker, source[0], sink[1]])
        arguments = [python] + command((*theirs[1:], 1, 0, self.event), path, stacks, nan, probe, calls, convert=convert, cache=cache, name=name)
        environment = dict(os.environ, MARKER=str(theirs[0]), **(env or {}))
        self.process = subprocess.Popen(
            arguments, env=environment, cwd=cwd, stdin=subprocess.DEVNULL, stdout=self.errors, stderr=self.errors, **inherited
        )
        for theirs in (marker, source[0], sink[1]):
            os.close(theirs)
        self.path, self.number = path, 0
        self.files = None  # the plugin's own files that the worker last reported
        self.left = b""
        self.compiled = False  # whether the worker asked for the source
        try:
            self.send("L", 0, BOOT)
        except BrokenPipeError:
            pass  # an old Python has already exited
        self.hello = self.receive()
        self.ready = self.receive() if self.hello[0] == "H" else self.hello

    def inherit(self, descriptors):
        """Returns the names of these descriptors in the process, and the arguments of Popen that pass them on.

        On Windows the names are handles, and the process also inherits self.event.
        """
        if os.name != "nt":
            return descriptors, {"pass_fds": descriptors}
        handles = [msvcrt.get_osfhandle(one) for one in descriptors]
        self.event = kernel.CreateEventW(None, False, False, None)
        for handle in [*handles, self.event]:
            os.set_handle_inheritable(handle, True)
        return handles, {"startupinfo": subprocess.STARTUPINFO(lpAttributeList={"handle_list": [*handles, self.event]})}

    def send(self, kind, number, body=b""):
        self.sink.write(packed(kind, number, body))

    def receive(self):
        """Returns the next frame as (type, number, value), or None after the last one. Skips reports of files."""
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
        """Returns the next frame as (type, value). It must be for this call.

        Skips frames that say where the call is, which the worker sends if an interrupt takes long.
        """
        found = self.receive()
        while found is not None and (found[0] == "T" or found[0] == "O" and self.late):
            found = self.receive()
        if found is None or found[1] != number:
            raise AssertionError("frame %r, expected one for call %d; stderr:\n%s" % (found, number, self.stderr()))
        return found[0], found[2]

    def call(self, hook, *args, **kwargs):
        return self.answer(self.begin(hook, *args, **kwargs))

    def stream(self, number):
        """Returns the items of a stream, and the type and value of the frame that ended it."""
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
        """Waits until a hook writes a byte into the pipe."""
        return os.read(self.marks, 1)

    def interrupt(self):
        if self.event:
            kernel.SetEvent(ctypes.c_void_p(self.event))
        else:
            self.process.send_signal(signal.SIGINT)

    def interrupted(self, number):
        """Interrupts a call and returns its answer.

        If a signal comes just before a blocking system call, Python handles it only when
        the system call returns. So this method sends signals until there is an answer.
        """
        if self.event:
            return self.interrupted_late(number)
        while not self.left:
            self.interrupt()
            if select.select([self.source], [], [], 3)[0]:
                break
        return self.answer(number)

    def interrupted_late(self, number):
        """Interrupts a call as on Windows, where the worker acts on a signal only if it finds a cancel frame."""
        self.send("K", number)
        answered = threading.Event()

        def press():
            self.interrupt()
            while not answered.wait(0.1):
                self.interrupt()

        pressing = threading.Thread(target=press)
        pressing.start()
        try:
            return self.answer(number)
        finally:
            answered.set()
            pressing.join()

    def stderr(self):
        self.errors.seek(0)
        return SLOW.sub("", self.errors.read().decode("utf-8", "replace"))

    def stop(self):
        """Asks the worker to exit, and returns its exit code."""
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
            if self.event:
                kernel.CloseHandle(ctypes.c_void_p(self.event))
        return self.process.returncode


def packed(kind, number, body=b""):
    """Returns the bytes of a frame."""
    if not isinstance(body, bytes):
        body = json.dumps(body).encode("ascii")
    return len(body).to_bytes(4, "little") + kind.encode("ascii") + number.to_bytes(4, "little") + body


class Case(unittest.TestCase):
    """Provides one worker that all tests of a class share. A test may also start its own."""

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
        """Starts a worker for one test."""
        # Each file has its own directory, because files with the same name, size and time would share byte code.
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
