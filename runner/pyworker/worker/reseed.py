"""Seeds random generators again in forked workers, unless the import has seeded them with a value.

Copies of generators would produce the same numbers in every worker. During the import, the base class of random.Random
is replaced by one that records which generators were seeded.
"""

import _random
import gc
import sys
from _weakref import ref

seeds = {}  # id of a random.Random → a weak reference to it, whether it was seeded with a value
fresh = []  # generators to seed in each worker
state = None  # state of the global generator, if the import has seeded it
original = _random.Random


class Watched(original):
    """Replaces _random.Random during the import."""

    def seed(self, a=None):
        super().seed(a)
        seeds[id(self)] = ref(self), a is not None


def watch():
    """Starts to watch, before the import."""
    _random.Random = Watched
    sys.modules.pop("random", None)  # the start of Python may have imported it


def end_watch():
    """Ends the watch after the import, and decides which generators to seed in workers."""
    global state
    _random.Random = original
    del Watched.seed
    for found, seeded in seeds.values():
        one = found()
        if one is not None and not seeded:
            fresh.append(one)
        elif one is not None and one is getattr(sys.modules.get("random"), "_inst", None):
            state = one.getstate()


def unsure():
    """Names a generator of numpy that the system may have seeded instead of the import. Returns "" if there is none."""
    numpy = sys.modules.get("numpy.random")
    base = getattr(numpy, "BitGenerator", None)
    for one in gc.get_objects() if base is not None else ():
        if issubclass(type(one), base) and one is not common(numpy) and drawn(one):
            return "numpy's random generator %s may not be seeded after the import" % type(one).__name__
    return ""


def common(numpy):
    """Returns the global generator of numpy, or None if it cannot be found."""
    return getattr(getattr(getattr(numpy, "mtrand", None), "_rand", None), "_bit_generator", None)


def drawn(one):
    """Reports whether the system may have chosen a generator's seed, which then has 128 bits."""
    entropy = getattr(getattr(one, "_seed_seq", None), "entropy", None)
    return isinstance(entropy, int) and entropy.bit_length() > 64


def reseed():
    """Seeds the generators again, first thing in a worker."""
    for one in fresh:
        one.seed()
    if state is not None:  # after the fork, Python has seeded the global generator
        sys.modules["random"]._inst.setstate(state)
    try:
        numpy = sys.modules.get("numpy.random")
        if numpy is not None and getattr(common(numpy), "_seed_seq", 0) is not None:  # the import did not seed it
            numpy.seed()
        torch = getattr(sys.modules.get("torch"), "default_generator", None)
        if torch is not None and torch.initial_seed() >> 32:  # a seed from the system has 53 bits
            torch.seed()
    except Exception:  # the user has replaced the generator
        pass
