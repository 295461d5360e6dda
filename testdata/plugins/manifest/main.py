"""Has a manifest that uses most keys."""

import os

_words = []


def learn(word: str) -> int:
    """What bootstrap calls."""
    _words.append(word)
    return len(_words)


def words() -> list:
    """What was learnt so far."""
    return _words


def ready() -> bool:
    """What the probe asks."""
    return True


def here() -> list:
    """The directory's name, and the variable of the manifest."""
    return [os.path.basename(os.getcwd()), os.environ.get("MANIFEST_SAYS")]
