"""Has a manifest that uses most keys."""

import os

_words = []


def learn(word: str) -> int:
    """The bootstrap hook."""
    _words.append(word)
    return len(_words)


def words() -> list:
    """Return the learned words."""
    return _words


def ready() -> bool:
    """The probe hook."""
    return True


def here() -> list:
    """Return the working directory's name and the manifest's variable."""
    return [os.path.basename(os.getcwd()), os.environ.get("MANIFEST_SAYS")]
