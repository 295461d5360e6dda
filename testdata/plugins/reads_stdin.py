"""Reads standard input, which pyplug does not pass on."""

import os
import subprocess
import sys


def ask() -> str:
    """Ask a question with input(), as a script does."""
    return input("name? ")


def read_all() -> str:
    """All of sys.stdin."""
    return sys.stdin.read()


def read_fd() -> int:
    """The number of bytes from file descriptor 0."""
    return len(os.read(0, 4096))


def read_child() -> str:
    """The standard input of a child process."""
    code = "import sys; sys.stdout.write(sys.stdin.read())"
    return subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, universal_newlines=True).stdout


def is_terminal() -> bool:
    """Whether standard input is a terminal."""
    return os.isatty(0)
