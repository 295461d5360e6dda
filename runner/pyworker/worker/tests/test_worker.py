"""Tests the worker's start, calls, isolation and exit."""

import os
import sys
import unittest

from client import SCRATCH, Case, Worker, packed, write

PLUGIN = '''
import ctypes, functools, multiprocessing, os, re, subprocess, sys, threading, time
from os import getcwd
from functools import partial

COUNT = 3

def mark():
    os.write(int(os.environ["MARKER"]), b".")
_mark = mark
del mark

def echo(value=None, *rest, **names):
    """Returns its argument.

    More about it."""
    return [value, *rest, names] if rest or names else value

def fails(text="no"):
    try:
        inner(text)
    except KeyError as error:
        raise ValueError(text) from error

def inner(text):
    raise KeyError(text)

def type_error():
    return len(5)

def exits(code=2): sys.exit(code)
def base(): raise BaseException("base")
def recursive(): return recursive()
def memory(): raise MemoryError("much")
def own_interrupt(): raise KeyboardInterrupt("mine")

class Odd(Exception):
    def __str__(self): raise RuntimeError("no text")
def odd(): raise Odd()

def cyclic():
    a, b = ValueError("a"), ValueError("b")
    a.__cause__, b.__cause__ = b, a
    raise a

def noted():
    error = ValueError("first")
    error.__notes__ = ["second", 3]
    raise error

def group():
    raise ExceptionGroup("several", [ValueError("one"), TypeError("two")])

def noisy():
    print("printed \\udc80 \\u4e2d")
    sys.stdout.buffer.write(b"buffered\\n"); sys.stdout.flush()
    os.write(1, b"written\\n")
    libc = ctypes.CDLL(None)
    libc.printf(b"from C\\n"); libc.fflush(None)
    subprocess.run("echo from a child; cat", shell=True, check=True)
    print("no newline", end="")
    return "quiet"

def read_input():
    try:
        return input()
    except EOFError:
        return "EOF"

def close_low():
    for fd in range(3, 10):
        try: os.close(fd)
        except OSError: pass
    for fd in range(3):
        os.close(fd)
    return "closed"

def sleeps(seconds=60):
    _mark(); time.sleep(seconds)
def locks():
    lock = threading.Lock(); lock.acquire(); _mark(); lock.acquire()
def spins():
    _mark()
    while True: pass
def matches():
    _mark(); re.match("(a+)+b", "a" * 40)
def swallows():
    try: sleeps()
    except KeyboardInterrupt: return "swallowed"
def converts():
    try: sleeps()
    except KeyboardInterrupt: raise ValueError("converted")

def forks(code=None):
    pid = os.fork()
    if pid == 0:
        if code is not None: sys.exit(code)
        return "child"
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) if hasattr(os, "waitstatus_to_exitcode") else os.waitpid(pid, 0)[1] >> 8

def double(x): return 2 * x
def pool(method):
    with multiprocessing.get_context(method).Pool(1) as pool:
        return pool.map(double, [1, 2, 3])

def decorate(function):
    def wrapper(*args, **kwargs): return function(*args, **kwargs)
    return wrapper
@decorate
def decorated(x): return x
@functools.lru_cache
def cached(x): return x
add_two = partial(max, 2)
lam = lambda: "lambda"
join = os.path.join
cwd = os.getcwd

class Greeter:
    def __init__(self, name): self.name = name
    def greet(self, who="you"): return self.name + " greets " + who
    def _secret(self): pass
    @staticmethod
    def static(): return "static"
    @classmethod
    def make(cls): return cls.__name__
    def __call__(self): return self.name
greeter = Greeter("Ada")
hello = greeter.greet
def _private(): pass
def rebind():
    global rebound
    rebound = lambda: 2
def rebound(): return 1
def function(function, args, kwargs, number, body, name, self, value, error): return "called"
def args(): return [sys.argv, sys.path[0], __name__, "__main__" in sys.modules and sys.modules["__main__"] is not sys.modules[__name__]]
'''


class Calls(Case):
    PLUGIN = PLUGIN

    def test_hello(self):
        kind, number, hello = self.worker.hello
        version = ".".join(map(str, sys.version_info[:3]))
        name = sys.implementation.name
        self.assertEqual((kind, number), ("H", 0))
        self.assertEqual(hello, {"python": version, "implementation": name, "pid": self.worker.process.pid})
        self.assertEqual(self.worker.ready, ("Y", 0, {"module": "plug"}))

    def test_arguments(self):
        self.ok(self.worker.call("echo", 1), 1)
        self.ok(self.worker.call("echo", 1, 2, b=3), [1, 2, {"b": 3}])
        self.ok(self.worker.ask("C", {"hook": "echo"}), None)
        self.ok(self.worker.ask("C", {"hook": "echo", "kwargs": {"value": 4}}), 4)
        for args, names, message in (
            ((), {}, "x is missing, expected"),
            ((1, 2), {}, "unexpected value 2, expected at most 1 by position:"),
            ((1,), {"y": 1}, 'no parameter "y", expected'),
        ):
            refusal = self.refused(self.worker.call("double", *args, **names), "arguments")
            self.assertEqual((refusal["message"], refusal["ends"]), (message, True))
            self.assertEqual([one["name"] for one in refusal["signature"]["params"]], ["x"])
        self.refused(self.worker.call("type_error"), "raised")

    def test_names_of_our_own_parameters(self):
        names = "function args kwargs number body name self value error".split()
        self.ok(self.worker.ask("C", {"hook": "function", "kwargs": dict.fromkeys(names, 1)}), "called")

    def test_json_both_ways(self):
        for value in ("é中\U0001f600", "\ud800 x \udc80", 10**40, -(2**63), 1.5, 1e300, [], {}, {"": None}, "\0\n\x7f"):
            self.ok(self.worker.call("echo", value), value)
        big = "x" * (1 << 20)
        self.ok(self.worker.call("echo", big), big)
        self.refused(
            self.worker.ask("C", b'{"hook":"echo","args":' + b"[" * 100000 + b"]" * 100000 + b"}"), "arguments"
        )

    def test_frames_in_pieces(self):
        frame = packed("C", 70000, {"hook": "echo", "args": ["piece"]})
        for byte in frame:
            self.worker.sink.write(bytes([byte]))
        self.ok(self.worker.answer(70000), "piece")
        self.worker.sink.write(frame * 3000)
        for _ in range(3000):
            self.ok(self.worker.answer(70000), "piece")

    def test_what_is_a_hook(self):
        for name, args, value in (
            ("decorated", [1], 1),
            ("cached", [1], 1),
            ("add_two", [1], 2),
            ("lam", [], "lambda"),
            ("hello", [], "Ada greets you"),
            ("greeter", [], "Ada"),
            ("greeter.greet", ["Bo"], "Ada greets Bo"),
            ("Greeter.make", [], "Greeter"),
            ("Greeter.static", [], "static"),
        ):
            self.ok(self.worker.call(name, *args), value)
        for name, why in (
            ("os", "`os` is imported, not defined here"),
            ("getcwd", "`getcwd` is imported, not defined here"),
            ("partial", "`partial` is imported, not defined here"),
            ("join", "`join` is imported, not defined here"),
            ("cwd", "`cwd` is imported, not defined here"),
            ("os.getcwd", "`os` is a module"),
            ("Greeter", "`Greeter` is a class; its methods are Greeter.static, Greeter.make"),
            ("_private", "`_private` is private"),
            ("greeter._secret", "`_secret` is private"),
            ("COUNT", "`COUNT` is not callable"),
            ("greeter.name", "`greeter.name` is not callable"),
            ("greeter.nope", "`greeter` has no attribute `nope`"),
            ("Greeter.greet", "`greet` is a method, and `Greeter` cannot be created without `name`"),
            ("nope", None),
            ("", None),
            ("a..b", None),
        ):
            answer = self.refused(self.worker.call(name), "hook")
            self.assertEqual(answer.get("why"), why)
            self.assertTrue({"echo", "lam", "greeter", "hello", "greeter.greet", "Greeter.make", "Greeter.static"} <= set(answer["hooks"]), answer)
            self.assertFalse(
                {"Greeter", "Greeter.greet", "os", "partial", "join", "cwd", "_private", "COUNT"} & set(answer["hooks"]), answer
            )

    def test_rebound_hook(self):
        self.ok(self.worker.call("rebound"), 1)
        self.worker.call("rebind")
        self.ok(self.worker.call("rebound"), 2)

    def test_all(self):
        worker = self.start(
            "__all__ = ['_b', 'C', 'getcwd', 'gone']\nfrom os import getcwd\ndef a(): pass\ndef _b(): return 1\nclass C: pass"
        )
        self.ok(worker.call("_b"), 1)
        answer = self.refused(worker.call("a"), "hook")
        self.assertEqual((answer["why"], answer["hooks"]), ("`a` is not in `__all__`", ["_b", "getcwd"]))
        answer = self.refused(worker.call("gone"), "hook")
        self.assertEqual(answer["why"], "`gone` is in `__all__` but not defined")
        self.assertNotIn("why", self.refused(worker.call("never"), "hook"))
        self.ok(self.start("__all__ = 5\ndef a(): return 1").call("a"), 1)

    def test_environment(self):
        path = os.path.join(SCRATCH, "Calls", "plug.py")
        self.ok(self.worker.call("args"), [[path], os.path.dirname(os.path.realpath(path)), "plug", True])

    def test_fork(self):
        self.ok(self.worker.call("forks"), 0)
        self.ok(self.worker.call("forks", 7), 7)
        self.ok(self.worker.call("echo", "alive"), "alive")

    def test_multiprocessing(self):
        for method in ("fork", "spawn"):
            self.ok(self.worker.call("pool", method), [2, 4, 6])


class Isolation(Case):
    PLUGIN = PLUGIN

    def test_noise(self):
        self.ok(self.worker.call("noisy"), "quiet")
        text = self.worker.stderr()
        for line in ("printed \\udc80 中", "buffered", "written", "from C", "from a child", "no newline"):
            self.assertIn(line, text)

    def test_input(self):
        self.ok(self.worker.call("read_input"), "EOF")

    def test_closed_descriptors(self):
        worker = self.start(PLUGIN)
        self.ok(worker.call("close_low"), "closed")
        self.ok(worker.call("echo", 1), 1)

    def test_few_descriptors(self):
        import resource

        limits = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (100, limits[1]))
        try:
            worker = self.start(PLUGIN)
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, limits)
        self.ok(worker.call("echo", 1), 1)

    def test_idle_worker_imports_nothing(self):
        worker = self.start("import sys\nbefore = sorted(sys.modules)\ndef modules(): return before")
        bare = self.start_bare()
        extra = set(worker.call("modules")[1]) - bare
        self.assertLessEqual(extra - {"plug", "_pyplug_modules"}, {"_pyplug_worker", "_pyplug_start"})

    def start_bare(self):
        import subprocess

        return set(subprocess.check_output([sys.executable, "-c", "import sys, _json, faulthandler; print(*sys.modules)"]).decode().split())

    @unittest.skipUnless(sys.platform == "linux", "the command line is replaced on Linux only")
    def test_name(self):
        """Checks that the command line that ps shows names the plugin."""
        worker = self.start("import sys\ndef line():\n    with open('/proc/self/cmdline', encoding='utf-8') as file:\n        return file.read().rstrip(chr(0)), sys.argv")
        self.ok(worker.call("line"), ["pyplug: plug.py", [worker.path]])

    def test_stacks(self):
        import signal

        worker = self.start(PLUGIN, stacks=int(signal.SIGUSR2))
        number = worker.begin("sleeps")
        worker.wait_mark()
        worker.process.send_signal(signal.SIGUSR2)
        self.refused(worker.interrupted(number), "canceled")
        self.assertIn("in sleeps", worker.stderr())


class End(Case):
    TEXT = "import atexit\natexit.register(print, 'goodbye')\ndef echo(x): return x\n"

    def test_quit_and_end_of_input(self):
        for stop in (Worker.stop, Worker.close):
            worker = self.start(self.TEXT)
            self.ok(worker.call("echo", 1), 1)
            self.assertEqual(stop(worker), 0)
            self.assertEqual(worker.stderr(), "goodbye\n")

    def test_not_a_frame(self):
        for garbage in (b"Z" * 9, packed("C", 1, b"{"), packed("x", 1)):
            worker = self.start(self.TEXT)
            worker.sink.write(garbage)
            self.assertIsNone(worker.receive())
            self.assertEqual(worker.close(), 1)
            self.assertIn("pyplug: ", worker.stderr())


if __name__ == "__main__":
    unittest.main()
