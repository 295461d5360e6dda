"""Tests of the zygote, over its socket."""

import array
import json
import os
import re
import select
import signal
import socket
import subprocess
import sys
import time
import unittest

from test_client import INSTALLED, LIMIT, SCRATCH, boot, packed, write

TAG = "PYPLUG_RUN"
TAGS = ["0123456789.%d" % n + ":" * (9 - len(str(n))) for n in range(100)]
PLACE = 150


def read(path):
    with open(path) as file:
        return file.read()


def is_dead(pid):
    try:
        return ") Z " in read("/proc/%d/stat" % pid)
    except (FileNotFoundError, ProcessLookupError):
        return True


class Talker:
    """Something that speaks frames."""

    def __init__(self, source, sink):
        self.source, self.sink = source, sink

    def send(self, kind, number, value):
        os.write(self.sink, packed(kind, number, value))

    def receive(self):
        head = self.take(9)
        if len(head) < 9:
            return None
        body = self.take(int.from_bytes(head[:4], "little"))
        return chr(head[4]), json.loads(body.decode()) if body else None

    def take(self, size):
        taken = b""
        while len(taken) < size:
            if not select.select([self.source], [], [], LIMIT)[0]:
                raise AssertionError("nothing comes")
            chunk = os.read(self.source, size - len(taken))
            if not chunk:
                break
            taken += chunk
        return taken

    def call(self, hook, *args):
        self.send("C", 7, {"hook": hook, "args": args})
        return self.receive()

    def close(self):
        os.close(self.source)
        os.close(self.sink)


class Zygote(Talker):
    """One zygote with one plugin."""

    def __init__(self, path, preload="auto"):
        self.errors = open(os.path.join(SCRATCH, "zygote-errors"), "a+b")
        self.control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.control.settimeout(LIMIT)
        theirs, number = theirs.detach(), 180
        os.dup2(theirs, number)
        os.close(theirs)
        self.process = subprocess.Popen(
            [sys.executable, "-c", "import os;os.dup2(%d,3);os.close(%d)\n" % (number, number) + boot(), INSTALLED, path, "0"],
            bufsize=0,
            env=dict(os.environ, **{TAG: TAGS[0]}),
            pass_fds=[number],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
        )
        os.close(number)
        super().__init__(self.process.stdout.fileno(), self.process.stdin.fileno())
        self.send("L", 0, {"nan": "error", "probe": "", "preload": preload})
        self.hello, self.ready = self.receive(), self.receive()

    def ask(self, question, descriptors=()):
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))] if descriptors else []
        self.control.sendmsg([question.encode()], rights)
        return self.control.recv(4096).decode()

    def fork(self, tag):
        """The answer, and the worker, which waits for load."""
        theirs, sink = os.pipe()
        source, theirs_too = os.pipe()
        life, end = os.pipe()
        lent = [theirs, theirs_too, self.errors.fileno(), life]
        answer = self.ask("fork %d %s" % (PLACE, tag), lent)
        for descriptor in (theirs, theirs_too, life, end):
            os.close(descriptor)
        return answer, Talker(source, sink)

    def close(self):
        self.control.close()
        for pipe in (self.process.stdin, self.process.stdout):
            pipe.close()
        self.errors.close()
        return self.process.wait()


@unittest.skipUnless(sys.platform == "linux", "workers are forked on Linux only")
class ZygoteTest(unittest.TestCase):
    def zygote(self, text, **options):
        zygote = Zygote(write(os.path.join(self.id(), "plug.py"), text), **options)
        self.addCleanup(zygote.close)
        return zygote

    def worker(self, zygote, number=1):
        answer, worker = zygote.fork(TAGS[number])
        self.addCleanup(worker.close)
        self.assertRegex(answer, r"^pid \d+$")
        pid = int(answer[4:])
        kind, hello = worker.receive()
        self.assertEqual((kind, hello["pid"]), ("H", pid))
        worker.send("L", 0, {})
        self.assertEqual(worker.receive(), ("Y", {"module": "plug"}))
        return pid, worker

    def test_worker(self):
        zygote = self.zygote("import os\ndef add(a, b): return a + b\ndef who(): return os.getpid()\n")
        self.assertEqual(zygote.ready, ("Y", {"module": "plug", "zygote": True}))
        one, first = self.worker(zygote, 1)
        two, second = self.worker(zygote, 23)
        self.assertEqual(first.call("add", 1, 2), ("R", 3))
        self.assertEqual(second.call("who"), ("R", two))
        for pid, tag in ((zygote.process.pid, TAGS[0]), (one, TAGS[1]), (two, TAGS[23])):
            with open("/proc/%d/environ" % pid) as file:
                self.assertEqual(re.findall(TAG + "=([^\0]*)", file.read()), [tag])
            self.assertEqual(os.getpgid(pid) == pid, pid != zygote.process.pid)
        os.readlink("/proc/%d/fd/%d" % (one, PLACE))
        os.kill(one, signal.SIGKILL)
        self.assertRegex(zygote.ask("reap %d" % one), r"^status 9 \d{4,}$")
        self.assertEqual(zygote.ask("reap %d" % one), "gone")
        second.send("Q", 0, None)
        self.assertRegex(zygote.ask("reap %d" % two), r"^status 0 \d{4,}$")

    def test_waits_for_load(self):
        """Nothing of the user's runs before load has come, and only then."""
        zygote = self.zygote(
            """
            import os
            told = []
            os.register_at_fork(after_in_child=lambda: told.append(os.getpid()))
            def who(): return told == [os.getpid()]
            def fork():
                child = os.fork()
                if not child:
                    os._exit(len(told))
                return os.waitpid(child, 0)[1] >> 8
            """
        )
        _, worker = self.worker(zygote)
        self.assertEqual(worker.call("who"), ("R", True))
        self.assertEqual(worker.call("fork"), ("R", 2))
        answer, worker = zygote.fork(TAGS[2])
        worker.receive()
        worker.close()  # without load it ends
        self.assertRegex(zygote.ask("reap " + answer[4:]), "^status 0 ")

    def test_changed(self):
        zygote = self.zygote("import json\ndef one(): return 1\n")
        path = os.path.join(SCRATCH, self.id(), "plug.py")
        os.utime(path, (1000000001, 1000000001))
        _, worker = self.worker(zygote)  # the first is as it was imported
        os.utime(path, (1000000002, 1000000002))
        answer, other = zygote.fork(TAGS[2])
        self.assertEqual(answer, "refused changed: " + path)
        self.assertIsNone(other.receive())
        other.close()
        self.assertEqual(worker.call("one"), ("R", 1))

    def test_spare(self):
        """A large one has the next worker ready, which is not the next if it died."""
        zygote = self.zygote("import os, random, _pyplug_zygote\n_pyplug_zygote.LARGE = 0\ndef chance(): return random.random()\n")
        _, one = self.worker(zygote, 1)
        spare = self.spare(zygote)
        pid, two = self.worker(zygote, 2)
        self.assertEqual(pid, spare)
        self.assertNotEqual(one.call("chance"), two.call("chance"))
        spare = self.spare(zygote)
        os.kill(spare, signal.SIGKILL)
        self.until(lambda: is_dead(spare))
        dead, other = self.worker(zygote, 3)
        self.assertNotEqual(dead, spare)
        self.assertEqual(other.call("chance")[0], "R")
        spare = self.spare(zygote)
        zygote.control.close()
        zygote.process.wait(LIMIT)
        self.until(lambda: is_dead(spare))

    def spare(self, zygote):
        """The child of a zygote that is in no group of its own."""
        path = "/proc/%d/task/%d/children" % (zygote.process.pid, zygote.process.pid)
        found = []

        def look():
            found[:] = [int(pid) for pid in read(path).split() if os.getpgid(int(pid)) != int(pid)]
            return found

        self.until(look)
        return found[0]

    def until(self, condition):
        end = time.monotonic() + LIMIT / 2
        while not condition():
            self.assertLess(time.monotonic(), end)
            select.select([], [], [], 0.001)

    def test_end(self):
        zygote = self.zygote("import atexit, os\natexit.register(os._exit, 3)\n")
        _, worker = self.worker(zygote)
        zygote.control.shutdown(socket.SHUT_RDWR)
        self.assertEqual(zygote.process.wait(LIMIT), 0)
        worker.send("Q", 0, None)
        self.assertIsNone(worker.receive())

    def test_collector(self):
        """What the user set at import stays set; else all is as ever."""
        source = "import gc\n%s\ndef state(): return [gc.isenabled(), gc.get_threshold()[0], gc.get_freeze_count() > 0]\n"
        for line, enabled, threshold in (
            ("", True, None),
            ("gc.disable()", False, None),
            ("gc.set_threshold(123)", True, 123),
        ):
            with self.subTest(line):
                import gc

                _, worker = self.worker(self.zygote(source % line))
                self.assertEqual(worker.call("state"), ("R", [enabled, threshold or gc.get_threshold()[0], True]))

    def test_own_resource(self):
        """A module of the user's may have the name of one that wait4 imports."""
        write(os.path.join(self.id(), "resource.py"), "TEXT = 'mine'\n")
        zygote = self.zygote("import resource\ndef text(): return resource.TEXT\n")
        pid, worker = self.worker(zygote)
        self.assertEqual(worker.call("text"), ("R", "mine"))
        os.kill(pid, signal.SIGTERM)
        self.assertRegex(zygote.ask("reap %d" % pid), "^status 15 ")
        _, worker = self.worker(zygote, 2)
        self.assertEqual(worker.call("text"), ("R", "mine"))

    def test_unsafe(self):
        """The process that imported it is a worker itself."""
        source = "import socket\ns = socket.socket()\ndef one(): return 1\n"
        zygote = self.zygote(source)
        self.assertRegex(zygote.ready[1]["exec"], r"^a socket \(fd \d+\) after the import$")
        self.assertEqual(zygote.call("one"), ("R", 1))
        forced = self.zygote(source, preload="force")
        _, worker = self.worker(forced)
        self.assertEqual(worker.call("one"), ("R", 1))

    def test_printed_once(self):
        zygote = self.zygote("import sys\nsys.stdout.write('half a line of %s')\ndef one(): return 1\n" % self.id())
        for number in (1, 2):
            _, worker = self.worker(zygote, number)
            worker.send("Q", 0, None)
            self.assertIsNone(worker.receive())
        with open(zygote.errors.name) as file:
            self.assertEqual(file.read().count("half a line of " + self.id()), 1)
