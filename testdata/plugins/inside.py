"""Tells what a plugin sees of the world."""

import os
import sys


def argv() -> list:
    """The command line."""
    return sys.argv


def cwd() -> str:
    """The working directory."""
    return os.getcwd()


def env(name: str):
    """A variable of the environment, null when it is not set."""
    return os.environ.get(name)


def environ() -> list:
    """The names of all variables."""
    return sorted(os.environ)


def path() -> list:
    """Where modules are looked for."""
    return sys.path


def module() -> dict:
    """What the module knows of itself."""
    return {"name": __name__, "file": __file__, "package": __package__, "main": sys.modules["__main__"].__name__}


def interpreter() -> dict:
    """Which Python this is."""
    return {"executable": sys.executable, "prefix": sys.prefix, "version": list(sys.version_info[:3])}


def fds() -> list:
    """The open file descriptors, where the system tells."""
    return sorted(int(name) for name in os.listdir("/proc/self/fd"))


def links() -> list:
    """Where the first three file descriptors lead."""
    return [os.readlink("/proc/self/fd/%d" % fd) for fd in range(3)]


def modules() -> int:
    """How many modules are loaded."""
    return len(sys.modules)


def ids() -> dict:
    """The process, its parent, its group and its session."""
    return {"pid": os.getpid(), "ppid": os.getppid(), "pgid": os.getpgrp(), "sid": os.getsid(0)}
