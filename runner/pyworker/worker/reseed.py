"""Seeds random generators anew in forked workers, unless the import has seeded them.

Copies of generators would give every worker the same numbers. The class below random.Random is watched during the
import, to know which have been seeded.
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
    """Is _random.Random during the import."""

    def seed(self, a=None):
        super().seed(a)
        seeds[id(self)] = ref(self), a is not None


def watch():
    """Called before the import."""
    _random.Random = Watched
    sys.modules.pop("random", None)  # which the start of Python has imported


def end_watch():
    """Called after the import."""
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
    """Returns which generator of numpy's the system may have seeded, and the import may not have; "" if there is none."""
    numpy = sys.modules.get("numpy.random")
    base = getattr(numpy, "BitGenerator", None)
    for one in gc.get_objects() if base is not None else ():
        if issubclass(type(one), base) and one is not common(numpy) and drawn(one):
            return "numpy's random generator %s may not be seeded after the import" % type(one).__name__
    return ""


def common(numpy):
    """The global generator of numpy's; None if it cannot be found."""
    return getattr(getattr(getattr(numpy, "mtrand", None), "_rand", None), "_bit_generator", None)


def drawn(one):
    """Reports whether the system may have drawn a generator's seed: such a seed has 128 bits."""
    entropy = getattr(getattr(one, "_seed_seq", None), "entropy", None)
    return isinstance(entropy, int) and entropy.bit_length() > 64


def reseed():
    """Seeds the generators anew. Called first in a worker."""
    for one in fresh:
        one.seed()
    if state is not None:  # Python has seeded it anew since
        sys.modules["random"]._inst.setstate(state)
    try:
        numpy = sys.modules.get("numpy.random")
        if numpy is not None and getattr(common(numpy), "_seed_seq", 0) is not None:  # it was not seeded
            numpy.seed()
        torch = getattr(sys.modules.get("torch"), "default_generator", None)
        if torch is not None and torch.initial_seed() >> 32:  # a seed of the system's has 53 bits
            torch.seed()
    except Exception:  # the user's own generator is in its place
        pass
