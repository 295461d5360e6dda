"""Provides a small client of the zygote's socket for the tests in this directory."""

import array
import json
import os
import re
import select
import socket
import subprocess
import sys
import time
import unittest

from client import BOOT, LIMIT, RUN_BOOT, SOURCE, command, packed, write

TAG = "PYPLUG_RUN"
TAGS = ["0123456789.%d" % n + ":" * (9 - len(str(n))) for n in range(100)]
PLACE = 150
ENVIRONMENT = {TAG: TAGS[0]}


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


class Talker:
    """Sends and receives frames."""

    def __init__(self, source, sink):
        self.source, self.sink = source, sink

    def send(self, kind, number, value):
        os.write(self.sink, packed(kind, number, value))

    def receive(self):
        head = self.take(9)
        if len(head) < 9 or head[4:5] == b"X":
            return None
        body = self.take(int.from_bytes(head[:4], "little"))
        value = json.loads(body.decode()) if body else None
        if head[4:5] == b"S":
            self.send("S", 0, SOURCE)
            return self.receive()
        if head[4:5] == b"F":
            return self.receive()
        if head[4:5] == b"Y":
            value.pop("files")
        return chr(head[4]), value

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
    """Runs one zygote with one plugin."""

    def __init__(self, path, preload="auto", stacks=0, limit=None, code=""):
        self.errors = open(path + "-errors", "a+b")
        self.control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.control.settimeout(LIMIT)
        source, sink = os.pipe(), os.pipe()
        given = source[0], sink[1], theirs.detach()
        self.process = subprocess.Popen(
            [sys.executable] + command((given[0], given[1], 1, given[2], 0), path, stacks, preload=preload, code=code + RUN_BOOT),
            env=dict(os.environ, **ENVIRONMENT),
            pass_fds=given,
            preexec_fn=limit,
            stdin=subprocess.DEVNULL,
            stdout=self.errors,
            stderr=self.errors,
        )
        for descriptor in given:
            os.close(descriptor)
        super().__init__(sink[0], source[1])
        self.send("L", 0, BOOT)
        self.hello, self.ready = self.receive(), self.receive()

    def ask(self, question, descriptors=()):
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))] if descriptors else []
        self.control.sendmsg([question.encode()], rights)
        return self.control.recv(4096).decode()

    def fork(self, tag):
        """Returns the answer and the worker, which waits for load."""
        theirs, sink = os.pipe()
        source, theirs_too = os.pipe()
        life, end = os.pipe()
        lent = [self.errors.fileno(), self.errors.fileno(), theirs, theirs_too, life]
        answer = self.ask("fork %d %s" % (PLACE, tag), lent)
        for descriptor in (theirs, theirs_too, life, end):
            os.close(descriptor)
        return answer, Talker(source, sink)

    def close(self):
        self.control.close()
        super().close()
        self.errors.close()
        return self.process.wait()


@unittest.skipUnless(sys.platform == "linux", "workers are forked on Linux only")
class ZygoteCase(unittest.TestCase):
    """Provides zygotes and their workers for tests."""

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
