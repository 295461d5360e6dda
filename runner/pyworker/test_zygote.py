"""Tests of the zygote, over its socket."""

import array
import errno
import json
import os
import random
import re
import select
import signal
import socket
import subprocess
import sys
import textwrap
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


def blocked(pid):
    """The signals that a process blocks."""
    bits = int(re.search("SigBlk:\\s*(\\w+)", read("/proc/%d/status" % pid)).group(1), 16)
    return [number for number in range(1, 65) if bits >> number - 1 & 1]


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

    def __init__(self, path, preload="auto", stacks=0, limit=None):
        self.errors = open(os.path.join(SCRATCH, "zygote-errors"), "a+b")
        self.control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.control.settimeout(LIMIT)
        theirs, number = theirs.detach(), 180
        os.dup2(theirs, number)
        os.close(theirs)
        self.process = subprocess.Popen(
            [sys.executable, "-c", "import os;os.dup2(%d,3);os.close(%d)\n" % (number, number) + boot(), INSTALLED, path, str(stacks)],
            bufsize=0,
            env=dict(os.environ, **{TAG: TAGS[0]}),
            pass_fds=[number],
            preexec_fn=limit,
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

    def test_stacks(self):
        """A worker shows none until it has a standard error of its own."""
        number = signal.SIGRTMAX - 2
        source = "import _pyplug_zygote\n_pyplug_zygote.LARGE = 0\ndef one(): return 1\n"
        zygote = self.zygote(source, stacks=number)
        self.worker(zygote, 1)
        spare = self.spare(zygote)
        os.kill(spare, number)
        self.assertIn(number, blocked(spare))
        pid, worker = self.worker(zygote, 2)
        self.assertEqual((pid, worker.call("one")), (spare, ("R", 1)))
        self.assertNotIn(number, blocked(pid))
        self.assertNotIn(number, blocked(zygote.process.pid))

    def test_random(self):
        """What the import has seeded is the same in each, as by exec; all else differs."""
        zygote = self.zygote(
            """
            import random
            from random import seed
            class Own(random.Random): pass
            made = [random.Random(), random.Random(3), Own(), Own("x"), random.SystemRandom()]
            def numbers(): return [one.random() for one in made]
            def whole(): return random.Random.seed.__module__, random.seed == random._inst.seed, seed(1), random.random()
            """
        )
        one, two = (self.worker(zygote, number)[1] for number in (1, 2))
        same = [a == b for a, b in zip(one.call("numbers")[1], two.call("numbers")[1])]
        self.assertEqual(same, [False, True, False, True, False])
        self.assertEqual(one.call("whole"), ("R", ["random", True, None, random.Random(1).random()]))

    def test_seeded(self):
        for lines, same in (
            ("import random", False),
            ("import random; random.seed(42)", True),
            ("import random; random.seed(42); random.seed()", False),
            ("from random import seed; seed(42); import random", True),
            ("import random; random._inst.__init__(42)", True),
        ):
            with self.subTest(lines):
                zygote = self.zygote(lines + "\ndef number(): return random.random()\n")
                (_, one), (_, two) = (self.worker(zygote, number)[1].call("number") for number in (1, 2))
                self.assertEqual((one == two, one == random.Random(42).random()), (same, same))

    def test_numpy(self):
        """Its global generator differs unless it was seeded; of others it depends on their seeds."""
        fake = """
            import random
            from types import SimpleNamespace as Space
            class BitGenerator:
                def __init__(self, entropy): self._seed_seq = Space(entropy=entropy)
            class PCG64(BitGenerator): pass
            common = BitGenerator(1 << 127)
            mtrand = Space(_rand=Space(_bit_generator=common))
            drawn = [0]
            def seed(told=None): common._seed_seq, drawn[0] = None, random.random() if told is None else told
            """
        write(os.path.join(self.id(), "numpy", "__init__.py"), "")
        write(os.path.join(self.id(), "numpy", "random.py"), fake)
        for line, same in (("", False), ("numpy.random.seed(42)", True), ("made = numpy.random.PCG64(42)", False)):
            with self.subTest(line):
                zygote = self.zygote("import numpy.random\n%s\ndef drawn(): return numpy.random.drawn\n" % line)
                one, two = (self.worker(zygote, number)[1].call("drawn") for number in (1, 2))
                self.assertEqual(one == two, same)
        zygote = self.zygote("import numpy.random\nmade = numpy.random.PCG64(1 << 127)\n")
        self.assertRegex(zygote.ready[1]["exec"], "^numpy's random generator PCG64 may not be seeded")

    def test_own_random(self):
        """A module of the user's that has the name is let be."""
        write(os.path.join(self.id(), "random.py"), "import os\nos.register_at_fork(after_in_child=[].clear)\ndef seed(): pass\n")
        _, worker = self.worker(self.zygote("import random\ndef name(): return random.seed.__module__\n"))
        self.assertEqual(worker.call("name"), ("R", "random"))

    def test_dies(self):
        """What a handler of the user's raises is shown as theirs."""
        zygote = self.zygote("import signal\ndef fails(*_): 1/0\nsignal.signal(signal.SIGUSR1, fails)\n")
        self.assertEqual(zygote.ready[1].get("zygote"), True)
        zygote.process.send_signal(signal.SIGUSR1)
        self.assertEqual(zygote.process.wait(LIMIT), 1)
        text = read(zygote.errors.name)[-400:]
        self.assertRegex(text, r"Traceback[^\n]*\n  File \"[^\n]*plug.py\", line 2, in fails\n(.*\n)+ZeroDivisionError: division by zero\n$")
        self.assertNotIn("_pyplug_", text[text.rindex("Traceback") :])

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

    def test_files(self):
        """Each worker has the files for itself that the import reads, where it left them."""
        path = write(os.path.join(self.id(), "data"), "0123456789")
        source = """
            import os
            F = open(%r, "rb", buffering=0)
            F.seek(3)
            L = open(%r, "a")
            D = os.open(os.path.dirname(F.name), os.O_RDONLY)
            def read(n): return F.read(n).decode()
            def names(): return os.listdir(D)
            def inherited(): return os.get_inheritable(F.fileno())
            """
        zygote = self.zygote(source % (path, path + "log"))
        (_, one), (_, two) = self.worker(zygote, 1), self.worker(zygote, 2)
        self.assertEqual([w.call("read", 2) for w in (one, two, one)], [("R", "34"), ("R", "34"), ("R", "56")])
        self.assertEqual(self.worker(zygote, 3)[1].call("read", 1), ("R", "3"))
        names = one.call("names")
        self.assertIn("data", names[1])
        self.assertEqual(two.call("names"), names)
        self.assertEqual(one.call("inherited"), ("R", False))
        forced = self.zygote("import socket\ns = socket.socket()\n" + textwrap.dedent(source % (path, path + "log")), preload="force")
        self.assertEqual([self.worker(forced, n)[1].call("read", 1) for n in (1, 2)], [("R", "3")] * 2)

    def test_risks(self):
        write(os.path.join(self.id(), "data"), "text")
        for line, why in (
            ("f = open(HERE + '/data'); import fcntl; fcntl.flock(f, fcntl.LOCK_SH)", "data, locked (fd "),
            ("os.mkfifo(HERE + '/way'); f = os.open(HERE + '/way', os.O_RDONLY | os.O_NONBLOCK)", "a pipe (fd "),
            ("import tempfile; t = tempfile.TemporaryDirectory()", "a finalizer (TemporaryDirectory._cleanup) after the import"),
            ("import weakref; f = open; k = weakref.finalize(os, print)", "a finalizer (print) after the import"),
            ("import weakref; k = weakref.finalize(os, print); k.atexit = False", None),
        ):
            with self.subTest(line):
                zygote = self.zygote("import os\nHERE = os.path.dirname(__file__)\n" + line)
                if why is None:
                    self.assertEqual(zygote.ready[1].get("zygote"), True)
                else:
                    self.assertIn(why, zygote.ready[1]["exec"])

    def test_low_limit(self):
        """The user's own limit may be below the lifeline's place."""
        import resource

        hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        zygote = self.zygote("def one(): return 1\n", limit=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (PLACE - 20, hard)))
        pid, worker = self.worker(zygote)
        self.assertEqual(worker.call("one"), ("R", 1))
        pipes = [os.readlink("/proc/%d/fd/%s" % (pid, number)) for number in os.listdir("/proc/%d/fd" % pid)]
        self.assertEqual(len({what for what in pipes if what.startswith("pipe:")}), 3)  # two to speak by, and the lifeline

    def test_no_descriptors(self):
        """Without room for a worker's descriptors none is forked."""
        fill = """
            import os, _pyplug_zygote
            _pyplug_zygote.ROOM = %d
            held = []
            try:
                while True: held.append(os.open(os.devnull, os.O_WRONLY))
            except OSError: pass
            def give(n):
                for _ in range(n): os.close(held.pop())
            give(3)
            def one(): return 1
            """
        zygote = self.zygote(fill % 3)
        for _ in range(2):
            answer, worker = zygote.fork(TAGS[1])
            self.assertEqual((answer, worker.receive()), ("errno %d" % errno.EMFILE, None))
            worker.close()
        zygote = self.zygote(fill % 8)
        self.assertEqual(zygote.ready[1]["exec"], "few file descriptors are left after the import")
        self.assertEqual(zygote.call("one"), ("R", 1))

    def test_printed_once(self):
        zygote = self.zygote("import sys\nsys.stdout.write('half a line of %s')\ndef one(): return 1\n" % self.id())
        for number in (1, 2):
            _, worker = self.worker(zygote, number)
            worker.send("Q", 0, None)
            self.assertIsNone(worker.receive())
        self.assertEqual(read(zygote.errors.name).count("half a line of " + self.id()), 1)

    def test_printed_once_by_c(self):
        zygote = self.zygote("import ctypes\nctypes.CDLL(None).printf(b'C: %s\\n')\ndef one(): return 1\n" % self.id())
        for number in (1, 2):
            _, worker = self.worker(zygote, number)
            worker.send("Q", 0, None)
            self.assertIsNone(worker.receive())
        self.assertEqual(read(zygote.errors.name).count("C: " + self.id()), 1)
