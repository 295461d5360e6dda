"""Tests probes."""

import unittest

from client import Case


class Probe(Case):
    def judged(self, text, **options):
        return self.start(text, **options).ask("P")

    def test_health(self):
        text = "def health(): return answer\ndef set(value):\n    global answer\n    answer = eval(value)\n"
        workers = self.start(text), self.start("async " + text)
        for returned, reason in (
            ("None", None),
            ("True", None),
            ("''", None),
            ("{'status': 'Serving'}", None),
            ("{}", None),
            ("False", "health returned False"),
            ("'OK'", None),
            ("'ok'", None),
            ("'Healthy'", None),
            ("'not ok'", "not ok"),
            ("'disk full'", "disk full"),
            ("{'status': 'down'}", "status is down"),
            ("{'status': 'x', 'reason': 'y'}", "status is x: y"),
            ("{'status': False}", "status is False"),
            ("{'status': True}", None),
            ("0", "health returned 0"),
            ("1", None),
            ("(False, 'no database')", "no database"),
            ("[False, 3, 'no database']", "no database"),
            ("[False]", "health returned [False]"),
            ("(True, 'warming up')", None),
            ("[]", None),
            ("['db', 'cache']", None),
            ("[0, 12]", None),
            ("{'ok': False}", "ok is False"),
            ("{'ok': True, 'error': 'x'}", None),
            ("{'healthy': False, 'message': 'no database'}", "healthy is False: no database"),
            ("{'healthy': 0}", "healthy is 0"),
            ("{'healthy': None}", None),
            ("{'status': 'ok', 'healthy': False}", "healthy is False"),
            ("{'queue': 0}", None),
        ):
            for worker in workers:
                worker.call("set", returned)
                self.ok(worker.ask("P"), {"degraded": reason} if reason else {})

    def test_none(self):
        self.ok(self.judged("def other(): return False"), {})
        self.ok(self.judged("def health(x): return False"), {})
        self.ok(self.judged("def health(x=1): return False"), {"degraded": "health returned False"})

    def test_raising(self):
        for prefix in ("", "async "):
            answer = self.refused(self.judged(prefix + "def health(): 1/0"), "raised")
            self.assertEqual(answer["python"]["type"], "ZeroDivisionError")

    def test_hanging(self):
        text = """
            import os, time
            def health():
                os.write(int(os.environ["MARKER"]), b"!")
                while True: time.sleep(0.001)
        """
        for calls in ("", "pipeline"):
            worker = self.start(text, calls=calls)
            worker.send("P", 1)
            worker.wait_mark()
            worker.send("K", 1)
            self.refused(worker.interrupted(1), "canceled")

    def test_iterator(self):
        """Checks that an iterator from a health function is a result, not a stream."""
        for prefix in ("", "async "):
            for calls in ("", "threads"):
                self.ok(self.judged(prefix + "def health(): return iter(['ok'])", calls=calls), {})

    def test_needs_an_argument(self):
        answer = self.refused(self.judged("def fine(x): pass", probe="fine"), "arguments")
        self.assertEqual((answer["message"], answer["place"]), ("x is missing, expected", "x"))

    def test_named(self):
        self.ok(self.judged("def health(): return False\ndef fine(): pass", probe="fine"), {})
        self.refused(self.judged("def health(): pass", probe="nope"), "hook")


if __name__ == "__main__":
    unittest.main()
