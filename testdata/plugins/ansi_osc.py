"""Writes terminal escape sequences: colour, a window title, the clipboard, a cleared screen."""

HOSTILE = "\x1b[31mred\x1b[0m \x1b]0;title\x07 \x1b]52;c;aGFoYQ==\x07 \x1b[2J\x1b[H \x9b31m \x08\x08 \x7f \r over"


def say() -> str:
    """Print them."""
    print(HOSTILE, flush=True)
    return "said"


def fail():
    """Raise them."""
    raise ValueError(HOSTILE)


def answer() -> str:
    """Return them."""
    return HOSTILE
