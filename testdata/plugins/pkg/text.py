"""A submodule."""


def shout(words: str) -> str:
    """Return the words in capitals."""
    return words.upper()
