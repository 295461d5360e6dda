"""A submodule."""


def shout(words: str) -> str:
    """The words in capitals."""
    return words.upper()
