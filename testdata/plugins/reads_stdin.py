"""Reads standard input, which is not its own."""

import os
import subprocess
import sys


def ask() -> str:
    """input(), as a script does that asks a question."""
    return input("name? ")


def read_all() -> str:
    """All of sys.stdin."""
    return sys.stdin.read()


def read_fd() -> int:
    """How many bytes file descriptor 0 gives."""
    return len(os.read(0, 4096))


def read_child() -> str:
    """What a child process finds on its standard input."""
    code = "import sys; sys.stdout.write(sys.stdin.read())"
    return subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, universal_newlines=True).stdout


def is_terminal() -> bool:
    """Whether standard input is a terminal."""
    return os.isatty(0)
