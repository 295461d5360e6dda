"""Writes to standard output in every way there is."""

import ctypes
import logging
import os
import subprocess
import sys
import warnings


def by_print(text: str = "printed") -> str:
    """print()."""
    print(text)
    return "by print"


def by_write(text: str = "written") -> str:
    """os.write to file descriptor 1."""
    os.write(1, (text + "\n").encode())
    return "by write"


def by_c(text: str = "from C") -> str:
    """printf in C, through its own buffer."""
    libc = ctypes.CDLL(None)
    libc.printf(b"%s\n", text.encode())
    libc.fflush(None)
    return "by C"


def by_child(text: str = "from a child") -> str:
    """A child process's print."""
    subprocess.run([sys.executable, "-c", "import sys; print(sys.argv[1])", text], check=True)
    return "by child"


def by_dunder(text: str = "around") -> str:
    """sys.__stdout__, the original stream if sys.stdout is replaced."""
    sys.__stdout__.write(text + "\n")
    sys.__stdout__.flush()
    return "by __stdout__"


def by_stderr(text: str = "to stderr") -> str:
    """print() to standard error."""
    print(text, file=sys.stderr)
    return "by stderr"


def by_logging(text: str = "logged") -> str:
    """logging and warnings."""
    logging.warning("%s", text)
    warnings.warn(text)
    return "by logging"


def no_newline(text: str = "half a line") -> str:
    """A line without a newline."""
    sys.stdout.write(text)
    sys.stdout.flush()
    return "no newline"


def frame_like() -> str:
    """Bytes that look like a handshake line and a frame."""
    os.write(1, b"1|1|tcp|127.0.0.1:1234|grpc\n\x02\x00\x00\x00R\x01\x00\x00\x0042\n")
    return "frame like"
