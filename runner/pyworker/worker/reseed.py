"""Seeds random generators anew in forked workers, unless the import has seeded them.

Python seeds the global generator of its random module anew in every child. Other
generators are copies, and would give every worker the same numbers, as if they had
been seeded. Random.seed is watched during the import, to know which generators the
user's code has seeded: from the moment that random registers itself for forks.
"""

import os
import sys
from _weakref import ref

seeds = {}  # id of a random.Random → a weak reference to it, whether it was seeded with a value
module = original = None  # random, when it is there, and Random.seed as it is there
register = None  # the real os.register_at_fork, while it is watched
fresh = []  # generators to seed in each worker
state = None  # the global generator's, if the import has seeded it


def watch():
    """Called before the import."""
    global register
    if is_random(sys.modules.get("random")):
        attach(sys.modules["random"])
    else:
        register, os.register_at_fork = os.register_at_fork, registering


def is_random(found):
    """Reports whether this is the standard library's module, and not one of the user's."""
    return found is not None and type(getattr(found, "_inst", None)) is getattr(found, "Random", 0)


def registering(**hooks):
    """Is os.register_at_fork until random is imported."""
    register(**hooks)
    found = sys.modules.get("random")
    own = getattr(hooks.get("after_in_child"), "__self__", None)
    if module is None and own is not None and own is getattr(found, "_inst", None) and is_random(found):
        attach(found)


def attach(found):
    global module, original
    module, original = found, found.Random.seed
    found.Random.seed = seed
    found.seed = seed.__get__(found._inst)


def seed(self, a=None, version=2):
    """Is Random.seed during the import."""
    original(self, a, version)
    seeds[id(self)] = ref(self), a is not None


def end_watch():
    """Called after the import."""
    global state
    if os.register_at_fork is registering:
        os.register_at_fork = register
    if module is None:
        return
    if module.Random.seed is seed:
        module.Random.seed = original
    if getattr(module.seed, "__func__", None) is seed:
        module.seed = module._inst.seed
    for found, seeded in seeds.values():
        one = found()
        if one is None:
            continue
        if not seeded:
            fresh.append(one)
        elif one is module._inst:
            state = one.getstate()


def unsure():
    """Names a generator of numpy's that the system may have seeded; None if there is none."""
    numpy = sys.modules.get("numpy.random")
    kinds = [getattr(numpy, "BitGenerator", None)]
    if kinds[0] is None:
        return None
    for kind in kinds:  # grows meanwhile
        kinds.extend(type.__subclasses__(kind))
    import gc

    kinds, shared = set(kinds), common(numpy)
    for one in gc.get_objects():
        if type(one) in kinds and one is not shared and drawn(one):
            return "numpy's random generator " + type(one).__name__
    return None


def common(numpy):
    """The global generator of numpy's; None if it cannot be found."""
    return getattr(getattr(getattr(numpy, "mtrand", None), "_rand", None), "_bit_generator", None)


def drawn(one):
    """Reports whether the system may have drawn a generator's seed: such a seed has 128 bits."""
    entropy = getattr(getattr(one, "_seed_seq", None), "entropy", None)
    return isinstance(entropy, int) and entropy.bit_length() > 64


def reseed():
    """Called first in a worker."""
    for one in fresh:
        one.seed()
    if state is not None:  # Python has seeded it anew since
        module._inst.setstate(state)
    try:
        numpy = sys.modules.get("numpy.random")
        if numpy is not None and getattr(common(numpy), "_seed_seq", 0) is not None:  # it was not seeded
            numpy.seed()
        torch = getattr(sys.modules.get("torch"), "default_generator", None)
        if torch is not None and torch.initial_seed() >> 32:  # a seed of the system's has 53 bits
            torch.seed()
    except Exception:  # the user's own generator is in its place
        pass
