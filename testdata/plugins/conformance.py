"""The plugin of the conformance suite, as a functions file."""

import os
import threading
import time


def echo(text: str) -> str:
    """Return the text."""
    return text


def fail():
    raise ValueError("on purpose")


def hang():
    threading.Event().wait()


def stubborn():
    while True:
        try:
            time.sleep(1000)
        except BaseException:
            pass


def leave():
    os._exit(7)


def stream(n: int):
    for i in range(n):
        yield {"number": i}
