"""What the import left that forked workers cannot have, or cannot share.

Loaded with the zygote. Workers would share the position of a regular file that is
open for reading: each worker opens it anew, at the position where the import left it.
Each would also write what is still in a file's buffer: the zygote does, once.
"""

import gc
import os
import sys
from _io import BufferedRandom, BufferedWriter, FileIO, TextIOWrapper, _IOBase
from _signal import ITIMER_PROF, ITIMER_REAL, ITIMER_VIRTUAL, SIG_DFL, SIGCHLD, getitimer, getsignal
from stat import S_ISCHR, S_ISDIR, S_ISFIFO, S_ISREG, S_ISSOCK

import _pyplug_worker as core

reseed = core.part("reseed")

EXITING = 4  # a flag in /proc/PID/stat
# The names of threads that a fork may leave behind: jemalloc, which pyarrow has, does without in a child.
DISPENSABLE = {b"jemalloc_bg_thd"}
# Finalizers that each worker may run: torch forgets its own operators.
OWN_FINALIZERS = {("torch.library", "_del_library")}
HARMLESS = {os.devnull, "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"}
PATH = getattr(os, "O_PATH", 0o10000000)

known = {}  # the descriptors that were there before the import: what each is
mapped = {}  # the memory, shared with others, that was
reopened = {}  # the descriptors that each worker opens anew: their flags
written = []  # the file objects that are open for writing


def prepare():
    """Called before the import."""
    global known, mapped
    known, mapped = descriptors(), mappings()


def check(fork_once):
    """Called after the import. Returns why forked workers would differ from what it left, "" if they would not."""
    held = files()  # always: it also finds the files that workers open anew
    find_written()  # always: flush_files needs them
    return children() or threads(fork_once) or held or compressed() or timers() or memory() or finalizers() or numbers()


def threads(fork_once):
    """OpenBLAS ends its threads before a fork, and starts them anew, here or in a worker, when they have work."""
    others = tasks()
    if others and len(sys._current_frames()) == 1:  # none of them runs Python
        fork_once()
        others = tasks()
    if not others:
        return ""
    python = getattr(sys.modules.get("threading"), "_active", {})
    names = ", ".join(thread.name for thread in python.values() if thread.native_id in others)
    return "%d threads after the import" % (len(others) + 1) + (" (%s)" % names if names else "")


def fork():
    """Forks, without Python's warning about threads: those that there are were looked at."""
    if len(os.listdir("/proc/self/task")) == 1:
        return os.fork()
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return os.fork()


def tasks():
    """The numbers of the threads that a fork must not lose. One that has ended is listed for a moment more, as exiting."""
    found = []
    for number in os.listdir("/proc/self/task"):
        try:
            with open("/proc/self/task/%s/stat" % number, "rb") as file:
                name, _, fields = file.read().partition(b"(")[2].rpartition(b")")
        except OSError:  # it is gone
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
    why = ""
    for number, what in descriptors().items():
        if known.get(number) != what:
            what = shared(number, what)
            if what:
                why = why or "%s (fd %d) after the import" % (what, number)
    return why


def compressed():
    """Workers would add to what the import has begun to compress, and each would end it."""
    for one in written:
        if any(kind.__name__ == "BaseStream" for kind in type(one).__mro__):  # of gzip, bz2 and lzma
            return "a %s, open for writing, after the import" % type(one).__name__
    return ""


def find_written():
    """Finds the file objects that are open for writing."""
    kinds = [_IOBase]
    for kind in kinds:  # grows meanwhile
        kinds.extend(type.__subclasses__(kind))
    kinds = set(kinds)
    for one in gc.get_objects():
        if type(one) in kinds:
            try:
                if not one.closed and one.writable():
                    written.append(one)
            except Exception:  # it is detached, or the user's own
                pass


def flush_files():
    """Writes what is in the buffers of files, which each worker would write again."""
    for one in written:
        buffer = one.buffer if type(one) is TextIOWrapper else one
        if type(buffer) in (BufferedWriter, BufferedRandom) and type(buffer.raw) is FileIO:
            try:
                one.flush()
            except (OSError, ValueError):  # as it would be at the end
                pass


def timers():
    """Workers would not have them."""
    running = any(getitimer(timer)[0] for timer in (ITIMER_REAL, ITIMER_VIRTUAL, ITIMER_PROF))
    return "a timer runs after the import" if running else ""


def memory():
    for place, what in mappings().items():
        if place not in mapped:
            return "shared memory (%s) after the import" % what
    return ""


def finalizers():
    """The first worker that ends would run them for all, and remove their temporary directory, say."""
    try:
        registry = sys.modules["weakref"].finalize._registry
        for one in list(registry.values()):
            if one.atexit and (getattr(one.func, "__module__", ""), getattr(one.func, "__name__", "")) not in OWN_FINALIZERS:
                name = getattr(one.func, "__qualname__", None) or type(one.func).__name__
                return "a finalizer (%s) after the import" % name
    except (AttributeError, KeyError):  # it is not loaded, or not the standard library's
        pass
    return ""


def numbers():
    what = reseed.unsure()
    return what + " may not be seeded after the import" if what else ""


def mappings():
    """What memory can be written to by others, too, by its addresses."""
    with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as file:
        rows = [row.rstrip("\n").split(None, 5) for row in file if " rw" in row and "s " in row]
    return {row[0]: row[5] if len(row) > 5 else "anonymous" for row in rows if row[1].startswith("rw") and row[1][3] == "s"}


def descriptors():
    """What is open, by number."""
    found = {}
    for number in os.listdir("/proc/self/fd"):
        try:
            found[int(number)] = os.readlink("/proc/self/fd/" + number)
        except OSError:  # that of the listing itself
            pass
    return found


def shared(number, what):
    """Names what workers must not share; None for what is harmless."""
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
    flags = next(int(row.split()[1], 8) for row in rows if row.startswith("flags:"))
    if any(row.startswith("lock:") for row in rows):
        return what + ", locked"
    if flags & os.O_RDWR:
        return "%s, open for reading and writing" % what
    if flags & (os.O_WRONLY | PATH):  # writes follow those of the others
        return None
    reopened[number] = flags & ~os.O_NOFOLLOW
    try:
        os.close(opened(number))
    except OSError:
        del reopened[number]
        return what + ", which cannot be opened again"
    return None


def opened(number):
    """Opens the file of a descriptor anew, at the same position."""
    new = os.open("/proc/self/fd/%d" % number, reopened[number])
    try:
        os.lseek(new, os.lseek(number, 0, os.SEEK_CUR), os.SEEK_SET)
    except BaseException:
        os.close(new)
        raise
    return new


def reopen_files():
    """Called in a worker: it then shares no file position with others."""
    for number in reopened:
        new = opened(number)
        os.dup2(new, number, os.get_inheritable(number))
        os.close(new)
