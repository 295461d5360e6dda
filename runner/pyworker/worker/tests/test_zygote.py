"""Tests the zygote over its socket: its workers, its exit, and when it cannot fork."""

import errno
import os
import re
import signal
import socket
import unittest

from client import LIMIT, write
from zygote_client import PLACE, TAG, TAGS, ZygoteCase, read


class ZygoteTest(ZygoteCase):
    def test_worker(self):
        zygote = self.zygote("import os\ndef add(a, b): return a + b\ndef who(): return os.getpid()\n")
        self.assertEqual(zygote.ready, ("Y", {"module": "plug", "zygote": True}))
        one, first = self.worker(zygote, 1)
        two, second = self.worker(zygote, 23)
        self.assertEqual(first.call("add", 1, 2), ("R", 3))
        self.assertEqual(second.call("who"), ("R", two))
        for pid, tag in ((zygote.process.pid, TAGS[0]), (one, TAGS[1]), (two, TAGS[23])):
            with open("/proc/%d/environ" % pid, encoding="utf-8") as file:
                self.assertEqual(re.findall(TAG + "=([^\0]*)", file.read()), [tag])
            self.assertEqual(os.getpgid(pid) == pid, pid != zygote.process.pid)
        os.readlink("/proc/%d/fd/%d" % (one, PLACE))
        os.kill(one, signal.SIGKILL)
        self.assertRegex(zygote.ask("reap %d" % one), "^status 9$")
        self.assertEqual(zygote.ask("reap %d" % one), "gone")
        second.send("Q", 0, None)
        self.assertRegex(zygote.ask("reap %d" % two), "^status 0$")

    def test_waits_for_load(self):
        """Checks that a worker runs fork handlers of the user only after load has come."""
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
        worker.close()  # without load, the worker exits
        self.assertRegex(zygote.ask("reap " + answer[4:]), "^status 0$")

    def test_dies(self):
        """Checks that an exception of the user's signal handler is printed without frames of the worker."""
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

    def test_unsafe(self):
        """Checks that the process that imported the file becomes a worker if forking is not safe."""
        source = "import socket\ns = socket.socket()\ndef one(): return 1\n"
        zygote = self.zygote(source)
        self.assertRegex(zygote.ready[1]["exec"], r"^a socket \(fd \d+\) after the import$")
        self.assertEqual(zygote.call("one"), ("R", 1))
        forced = self.zygote(source, preload="force")
        _, worker = self.worker(forced)
        self.assertEqual(worker.call("one"), ("R", 1))

    def test_unable(self):
        """Checks that a Python without gc.freeze, such as PyPy, still runs the plugin."""
        for preload in ("auto", "force"):
            zygote = self.zygote("def one(): return 1\n", preload=preload, code="import gc;del gc.freeze,gc.unfreeze;")
            self.assertEqual(zygote.ready[1]["exec"], "cpython has no gc.freeze")
            self.assertEqual(zygote.call("one"), ("R", 1))

    def test_fork_safety(self):
        write(os.path.join(self.id(), "data"), "text")
        for line, why in (
            ("f = open(HERE + '/data', 'rb')", "data, open for reading (fd "),
            ("f = open(HERE + '/data', 'r+b')", "data, open for reading and writing (fd "),
            ("f = open(HERE + '/one', 'ab')", None),
            ("f = open(HERE + '/one', 'ab'); import fcntl; fcntl.lockf(f, fcntl.LOCK_EX)", "one, locked (fd "),
            ("g = open(HERE + '/two', 'ab'); f = open(HERE + '/two', 'rb'); import fcntl; fcntl.lockf(g, fcntl.LOCK_EX)", "two, locked (fd "),
            ("import bz2; f = bz2.open(HERE + '/data.bz2', 'w')", "a BZ2File, open for writing, after the import"),
            ("import lzma; f = lzma.open(HERE + '/data.xz', 'w'); f.close()", None),
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

    def test_no_descriptors(self):
        """Checks that no worker is forked if there are too few descriptors left."""
        fill = """
            import os
            held = []
            try:
                while True: held.append(os.open(os.devnull, os.O_WRONLY))
            except OSError: pass
            def give(n):
                for _ in range(n): os.close(held.pop())
            give(3)
            def one(): return 1
            """
        zygote = self.zygote(fill)
        for _ in range(2):
            answer, worker = zygote.fork(TAGS[1])
            self.assertEqual((answer, worker.receive()), ("errno %d" % errno.EMFILE, None))
            worker.close()
