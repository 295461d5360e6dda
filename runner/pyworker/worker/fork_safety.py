"""Checks after the import whether forking is safe: whether the import left anything that workers would lose or share.

It is loaded with the zygote.
"""

import gc
import os
import sys
import warnings
from _io import BufferedRandom, BufferedWriter, TextIOWrapper, _IOBase
from _signal import ITIMER_PROF, ITIMER_REAL, ITIMER_VIRTUAL, SIG_DFL, SIGCHLD, getitimer, getsignal
from stat import S_ISCHR, S_ISDIR, S_ISFIFO, S_ISREG, S_ISSOCK

import _pyplug_worker as core

reseed = core.part("reseed")

EXITING = 4  # a flag in /proc/PID/stat
# The names of threads that a fork may lose. In a child, jemalloc, which pyarrow uses, works without its thread.
DISPENSABLE = {b"jemalloc_bg_thd"}
# Finalizers that each worker may run. The finalizer of torch only removes its own operators.
OWN_FINALIZERS = {("torch.library", "_del_library")}
HARMLESS = {os.devnull, "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"}
PATH = getattr(os, "O_PATH", 0o10000000)

known = {}  # the descriptors that were open before the import: number → target
mapped = {}  # the shared memory that existed before the import: addresses → name


def prepare():
    """Records the state before the import."""
    global known, mapped
    known, mapped = descriptors(), mappings()


def check(fork_once):
    """Returns why it is not safe to fork after the import, or "" if it is safe."""
    compressed = flush_files()  # must always run
    return children() or threads(fork_once) or files() or compressed or timers() or memory() or finalizers() or reseed.unsure()


def threads(fork_once):
    """Names the threads that a fork would lose. fork_once makes OpenBLAS end its threads, which it restarts when needed."""
    others = tasks()
    if others and len(sys._current_frames()) == 1:  # the other threads do not run Python
        fork_once()
        others = tasks()
    if not others:
        return ""
    python = getattr(sys.modules.get("threading"), "_active", {})
    names = ", ".join(thread.name for thread in python.values() if thread.native_id in others)
    return "%d threads after the import" % (len(others) + 1) + (" (%s)" % names if names else "")


def fork():
    """Forks without Python's warning about threads, because check has looked at them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return os.fork()


def tasks():
    """Returns the numbers of the threads that a fork must not lose. It skips exiting threads, which Linux still lists."""
    found = []
    for number in os.listdir("/proc/self/task"):
        try:
            with open("/proc/self/task/%s/stat" % number, "rb") as file:
                name, _, fields = file.read().partition(b"(")[2].rpartition(b")")
        except OSError:  # the thread is gone
            continue
        if int(number) != os.getpid() and name not in DISPENSABLE and not int(fields.split()[6]) & EXITING:
            found.append(int(number))
    return found


def children():
    if getsignal(SIGCHLD) != SIG_DFL:
        return "SIGCHLD is handled after the import"
    try:
        child = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return ""
    return "a child process after the import" + (" (pid %d)" % child.si_pid if child else "")


def files():
    for number, what in descriptors().items():
        why = shared(number, what) if known.get(number) != what else None
        if why:
            return "%s (fd %d) after the import" % (why, number)
    return ""


def flush_files():
    """Flushes file buffers, which each worker would write again. Names a compressed file, whose end each worker would write."""
    why = ""
    for one in gc.get_objects():
        kind = type(one)
        try:
            if kind in (TextIOWrapper, BufferedWriter, BufferedRandom):
                one.flush()
            elif issubclass(kind, _IOBase) and any(base.__name__ == "BaseStream" for base in kind.__mro__):  # gzip, bz2 and lzma
                if not one.closed and one.writable():
                    why = "a %s, open for writing, after the import" % kind.__name__
        except Exception:  # the file is closed or detached, or a user's class raises
            pass
    return why


def timers():
    """Reports a running timer, which workers would lose."""
    running = any(getitimer(timer)[0] for timer in (ITIMER_REAL, ITIMER_VIRTUAL, ITIMER_PROF))
    return "a timer runs after the import" if running else ""


def memory():
    new = [what for place, what in mappings().items() if place not in mapped]
    return "shared memory (%s) after the import" % new[0] if new else ""


def finalizers():
    """Reports a finalizer, which the first worker that exits would run while the others still need its object."""
    try:
        registry = sys.modules["weakref"].finalize._registry
        for one in list(registry.values()):
            if one.atexit and (getattr(one.func, "__module__", ""), getattr(one.func, "__name__", "")) not in OWN_FINALIZERS:
                name = getattr(one.func, "__qualname__", None) or type(one.func).__name__
                return "a finalizer (%s) after the import" % name
    except (AttributeError, KeyError):  # weakref is not loaded, or not the module of the standard library
        pass
    return ""


def mappings():
    """Returns the shared memory that this process can write to: addresses → name."""
    with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as file:
        rows = [row.rstrip("\n").split(None, 5) for row in file if " rw" in row and "s " in row]
    return {row[0]: row[5] if len(row) > 5 else "anonymous" for row in rows if row[1].startswith("rw") and row[1][3] == "s"}


def descriptors():
    found = {}
    for number in os.listdir("/proc/self/fd"):
        try:
            found[int(number)] = os.readlink("/proc/self/fd/" + number)
        except OSError:  # the descriptor of the listing itself
            pass
    return found


def shared(number, what):
    """Names a descriptor that workers must not share. Returns None for a harmless one."""
    if what.startswith("anon_inode:"):
        return what[len("anon_inode:") :].strip("[]")  # such as eventpoll
    mode = os.fstat(number).st_mode
    if S_ISSOCK(mode):
        return "a socket"
    if S_ISFIFO(mode):
        return "a pipe"
    if S_ISCHR(mode):
        return None if what in HARMLESS else "the device " + what
    if not S_ISREG(mode) and not S_ISDIR(mode):
        return what
    with open("/proc/self/fdinfo/%d" % number, encoding="utf-8") as file:
        rows = file.read().splitlines()
    if any(row.startswith("lock:") for row in rows):
        return what + ", locked"
    flags = next(int(row.split()[1], 8) for row in rows if row.startswith("flags:"))
    if flags & (os.O_WRONLY | PATH):  # harmless, because each write follows those of other workers
        return None
    return "%s, open for reading" % what + (" and writing" if flags & os.O_RDWR else "")
