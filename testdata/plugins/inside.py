"""Returns what a plugin knows about its environment."""

import os
import sys


def argv() -> list:
    """The command line."""
    return sys.argv


def cwd() -> str:
    """The working directory."""
    return os.getcwd()


def env(name: str):
    """An environment variable, null if it is not set."""
    return os.environ.get(name)


def environ() -> list:
    """The names of all environment variables."""
    return sorted(os.environ)


def path() -> list:
    """The search path for modules."""
    return sys.path


def module() -> dict:
    """The attributes of the module."""
    return {"name": __name__, "file": __file__, "package": __package__, "main": sys.modules["__main__"].__name__}


def interpreter() -> dict:
    """The Python that runs."""
    return {"executable": sys.executable, "prefix": sys.prefix, "version": list(sys.version_info[:3])}


def fds() -> list:
    """The open file descriptors, if the system lists them."""
    return sorted(int(name) for name in os.listdir("/proc/self/fd"))


def links() -> list:
    """The targets of the first three file descriptors."""
    return [os.readlink("/proc/self/fd/%d" % fd) for fd in range(3)]


def modules() -> int:
    """The number of loaded modules."""
    return len(sys.modules)


def ids() -> dict:
    """The ids of the process, its parent, its group and its session."""
    return {"pid": os.getpid(), "ppid": os.getppid(), "pgid": os.getpgrp(), "sid": os.getsid(0)}
