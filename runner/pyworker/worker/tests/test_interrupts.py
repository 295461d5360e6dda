"""Tests SIGINT while no event loop runs."""

import subprocess
import unittest

from client import Case
from test_worker import PLUGIN


class Interrupts(Case):
    PLUGIN = PLUGIN

    def test_user_code(self):
        for name in ("sleeps", "locks", "spins", "matches"):
            number = self.worker.begin(name)
            self.worker.wait_mark()
            answer = self.refused(self.worker.interrupted(number), "canceled")
            self.assertEqual(answer["python"]["frames"][0]["function"], name)
            self.ok(self.worker.call("echo", name), name)

    def test_swallowed(self):
        for name, kind in (("swallows", "R"), ("converts", "E")):
            number = self.worker.begin(name)
            self.worker.wait_mark()
            answer = self.worker.interrupted(number)
            self.assertEqual(answer[0], kind)
            if kind == "R":
                self.ok(answer, "swallowed")
        self.assertEqual(self.refused(answer, "canceled")["python"]["message"], "converted")

    def test_between_calls(self):
        for _ in range(50):
            self.worker.interrupt()
        self.ok(self.worker.call("echo", 1), 1)

    def test_storm(self):
        """Checks that signals at any time do not break a frame or the worker."""
        for index in range(500):
            number = self.worker.begin("echo", index)
            kind, value = self.worker.interrupted(number)
            self.assertTrue(kind == "R" and value == index or value["reason"] == "canceled", value)

    def test_own_handler(self):
        worker = self.start(PLUGIN + "\nimport signal\nsignal.signal(signal.SIGINT, lambda *_: _mark())\n")
        worker.interrupt()
        self.ok(worker.call("echo", 1), 1)  # the call ends a read during which the signal came, see interrupted
        worker.wait_mark()

    def test_end(self):
        """Checks that signals during the exit print nothing and do not interrupt user code."""
        end = "import atexit, time\n@atexit.register\ndef bye(): time.sleep(0.02); print('ended')\n"
        thread = "import threading\nthreading.Thread(target=time.sleep, args=[0.02]).start()\n"
        for text in (end, end + "1/0", end + thread, end + thread + "1/0"):
            for _ in range(3):
                worker = self.start(text)
                if worker.ready[0] == "Y":
                    worker.send("Q", 0)
                while worker.process.poll() is None:
                    worker.interrupt()
                    try:
                        worker.process.wait(0.001)
                    except subprocess.TimeoutExpired:
                        pass
                self.assertEqual(worker.stderr(), "ended\n")


if __name__ == "__main__":
    unittest.main()
