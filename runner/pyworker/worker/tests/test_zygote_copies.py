"""Tests which state the workers of one zygote share, and which state differs."""

import os
import random
import signal
import textwrap

from client import write
from zygote_client import ZygoteCase, read


class CopiesTest(ZygoteCase):
    def test_random(self):
        """Checks that generators seeded by the import are the same in each worker, and that others differ."""
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

    def test_torch(self):
        """Checks that torch's finalizers are harmless, and that its generator differs unless it was seeded."""
        fake = """
            import random
            class Generator:
                def __init__(self): self.at, self.drawn = 1 << 52, 0.5
                def initial_seed(self): return self.at
                def manual_seed(self, seed): self.at = self.drawn = seed
                def seed(self): self.drawn = random.random()
            default_generator = Generator()
            from . import library
            """
        library = "import os, weakref\ndef _del_library(): pass\nweakref.finalize(os, _del_library)\n"
        write(os.path.join(self.id(), "torch", "__init__.py"), fake)
        write(os.path.join(self.id(), "torch", "library.py"), library)
        for line, same in (("", False), ("torch.default_generator.manual_seed(42)", True)):
            with self.subTest(line):
                zygote = self.zygote("import torch\n%s\ndef drawn(): return torch.default_generator.drawn\n" % line)
                one, two = (self.worker(zygote, number)[1].call("drawn") for number in (1, 2))
                self.assertEqual(one == two, same)

    def test_numpy(self):
        """Checks that numpy's global generator differs unless it was seeded, and that an unseeded one prevents a fork."""
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
        """Checks that a module of the user with the name random is left alone."""
        write(os.path.join(self.id(), "random.py"), "import os\nos.register_at_fork(after_in_child=[].clear)\ndef seed(): pass\n")
        _, worker = self.worker(self.zygote("import random\ndef name(): return random.seed.__module__\n"))
        self.assertEqual(worker.call("name"), ("R", "random"))

    def test_collector(self):
        """Checks that the user's settings of the garbage collector are kept, and that others are the defaults."""
        source = "import gc\n%s\ndef state(): return [gc.isenabled(), gc.get_threshold()[0], gc.get_freeze_count() > 0]\n"
        for line, enabled, threshold in (
            ("", True, None),
            ("gc.disable()", False, None),
            ("gc.set_threshold(123)", True, 123),
            ("gc.set_threshold(0)", True, 0),
        ):
            with self.subTest(line):
                import gc

                _, worker = self.worker(self.zygote(source % line))
                self.assertEqual(worker.call("state"), ("R", [enabled, gc.get_threshold()[0] if threshold is None else threshold, True]))

    def test_printed_once(self):
        zygote = self.zygote("import sys\nsys.stdout.write('half a line of %s')\ndef one(): return 1\n" % self.id())
        for number in (1, 2):
            _, worker = self.worker(zygote, number)
            worker.send("Q", 0, None)
            self.assertIsNone(worker.receive())
        self.assertEqual(read(zygote.errors.name).count("half a line of " + self.id()), 1)
