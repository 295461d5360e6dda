"""The zygote: a process that has imported the user's file, and from which workers are forked.

Loaded when load asks for it, on Linux only. The import happens once; each worker
starts as a copy of the result, and shares its memory until somebody writes to it.
runner/proc describes the requests that the zygote answers on descriptor 4.

Each worker finalizes what the import left when it ends, atexit handlers included, as if it had
imported the file itself; the zygote runs none.
"""

import atexit
import gc
import os
import sys
from _signal import SIG_BLOCK, SIG_UNBLOCK, SIGKILL, pthread_sigmask
from _socket import AF_UNIX, CMSG_SPACE, MSG_CTRUNC, SCM_RIGHTS, SOCK_SEQPACKET, SOL_SOCKET, socket, socketpair, timeout
from errno import EMFILE
from time import time_ns

import _pyplug_start as start
import _pyplug_worker as core

reseed, fork_safety = core.part("reseed"), core.part("fork_safety")

CONTROL = 4
LARGE = 32 << 20  # bytes
ROOM = 9  # descriptors that it takes to fork a worker
PAUSE = 0.05  # seconds; while workers are asked for, a spare would be in their way
TAG = "PYPLUG_RUN"
NEVER = (1 << 31) - 3  # a threshold of the garbage collector that is never reached, and that nobody else sets

control = None  # the socket
resource = None  # the standard library's module
collecting = ()  # the thresholds of the garbage collector before the import
began = 0  # when the import did
files = {}  # the plugin's own files, and the state of each
tag = 0  # where the tag is in memory
forked = False  # a worker was asked for before
waiting = ()  # both ends of the socket to the process that is being forked
spare = None  # a process that was forked in advance: its number, and the socket to it
large = False  # a fork takes so long that one is made in advance


def prepare():
    """Called before the import."""
    global control, resource, collecting, began
    # First of those that the user's code may register.
    os.register_at_fork(after_in_child=become_worker)
    if hasattr(gc, "unfreeze"):  # else the globals of the import would outlive Python: files would not be flushed
        atexit.register(gc.unfreeze)
    control = socket(fileno=start.move(CONTROL, 200 + CONTROL))
    os.close(CONTROL)
    fork_safety.prepare()
    reseed.watch()
    import resource

    del sys.modules["resource"]
    # Garbage is collected once, after the import.
    if hasattr(gc, "get_threshold"):
        collecting = gc.get_threshold()
        gc.set_threshold(NEVER)
    began = time_ns()


def check(forced):
    """Called after the import. Returns why no workers can be forked, "" if they can."""
    global large
    gc.collect()
    reseed.end_watch()
    why = unable()
    if not why:
        risk = fork_safety.check(fork_once)  # always: it also finds the files that workers open anew, and those to flush
        why = "" if forced else risk
    if not why:
        flush()
        files.update((path, state(path)) for path in start.reported)
        for path, seen in files.items():
            if seen and began <= seen[0] <= time_ns():
                files[path] = None  # it may have changed since it was imported
        gc.freeze()
        with open("/proc/self/statm", "rb") as file:
            large = int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE") > LARGE
    else:
        try:
            control.close()
        except OSError:  # the user's code has
            pass
    fork_safety.written.clear()
    if collecting and gc.get_threshold()[0] == NEVER:  # else the user's code has set them
        gc.set_threshold(*collecting)
    return why


def unable():
    """Why forking does not work at all."""
    global tag
    if not collecting or not hasattr(gc, "freeze"):
        return "%s cannot keep its objects apart" % sys.implementation.name
    try:
        os.fstat(control.fileno())
        tag, value = find_tag()
        set_tag(value)
    except (OSError, ValueError):
        return "its environment is out of reach after the import"
    spare = []
    try:
        for _ in range(ROOM):
            spare.append(os.dup(control.fileno()))
    except OSError:
        return "few file descriptors are left after the import"
    finally:
        for descriptor in spare:
            os.close(descriptor)
    return ""


def flush():
    """Writes what Python and C code have in buffers after the import, which each worker would write again."""
    core.flush()
    fork_safety.flush_files()
    if "_ctypes" in sys.modules or any(path.endswith(".so") and start.is_foreign(path) for path in start.module_files()):
        try:
            from _ctypes import call_function, dlopen, dlsym

            call_function(dlsym(dlopen(None, 0), "fflush"), (None,))
        except (ImportError, OSError):  # a Python without
            pass


def state(path):
    """The properties by which a changed file is recognised."""
    try:
        found = os.stat(path)
    except OSError:
        return ()
    return found.st_mtime_ns, found.st_size


def changed():
    """Names one of the plugin's files that has changed since it was imported; None if none has."""
    return next((path for path, seen in files.items() if state(path) != seen), None)


def find_tag():
    """Returns the address of the tag in the memory that is this process's environment for others, and its value."""
    with open("/proc/self/stat", "rb") as file:
        first = int(file.read().rpartition(b")")[2].split()[47])  # env_start, field 50
    with open("/proc/self/environ", "rb") as file:
        environment = b"\0" + file.read()
    name = b"\0" + TAG.encode() + b"="
    at = environment.index(name) + len(name)
    return first + at - 1, environment[at:].partition(b"\0")[0]


def set_tag(value):
    """Replaces the tag in the environment that others see, by one of the same length."""
    start.write_memory(tag, value)


def serve(kind, ready):
    """Reports that it is ready, and answers requests until pyplug is gone. It returns in each worker only."""
    try:
        core.send(kind, 0, ready)
        answer()
    except BaseException as error:  # a signal handler of the user's has raised it
        core.leave(core.part("errors").exit_code(error))
    reseed.reseed()


def answer():
    """Answers requests; returns in a worker."""
    global spare
    wanted = False  # a spare
    while True:
        control.settimeout(PAUSE if wanted else None)
        try:
            request, lent = receive(control)
        except timeout:
            wanted = False
            try:
                spare = fork_process()
            except OSError:  # there is no room
                continue
            if spare is None:
                return
            continue
        word, _, rest = request.partition(b" ")
        if word == b"fork":
            reply = fork(rest, lent)
            if reply is None:
                return
            wanted = large and spare is None
        elif word == b"reap":
            reply = reap(int(rest))
        else:
            os._exit(0)
        control.send(reply.encode("utf-8", "backslashreplace")[:4000])


def receive(channel):
    """Receives a message and the descriptors that came with it, None if there was no room for all of them."""
    message, more, flags, _ = channel.recvmsg(4096, CMSG_SPACE(5 * 4))
    numbers = [
        int.from_bytes(some[at : at + 4], sys.byteorder)
        for level, kind, some in more
        if (level, kind) == (SOL_SOCKET, SCM_RIGHTS)
        for at in range(0, len(some) - 3, 4)
    ]
    if flags & MSG_CTRUNC:
        for number in numbers:
            os.close(number)
        return message, None
    return message, numbers


def fork(rest, numbers):
    """Makes a worker and returns the reply; None in the worker."""
    global forked
    if numbers is None:
        return "errno %d" % EMFILE
    old = changed() if forked else None  # the first one asked for the import
    forked = True
    try:
        if old is not None:
            return "refused changed: " + old
        pid = lend(rest, numbers)
        return None if pid is None else "pid %d" % pid
    except OSError as error:
        return "errno %d" % error.errno
    finally:
        for number in numbers:  # the worker has copies
            os.close(number)


def lend(rest, numbers):
    """Sends a process the descriptors of a worker, and returns its number; None in the worker."""
    global spare
    data = b"".join(number.to_bytes(4, sys.byteorder) for number in numbers)
    while True:
        spared, spare = spare, None
        child = spared or fork_process()
        if child is None:
            return None
        pid, channel = child
        os.setpgid(pid, pid)
        try:
            channel.sendmsg([rest], [(SOL_SOCKET, SCM_RIGHTS, data)])
            return pid
        except OSError:
            os.kill(pid, SIGKILL)
            os.waitpid(pid, 0)
            if spared is None:  # a spare one may have died long ago
                raise
        finally:
            channel.close()


def reap(pid):
    """Takes the status of a dead worker."""
    try:
        return "status %d" % os.waitpid(pid, 0)[1]
    except ChildProcessError:
        return "gone"


def fork_process():
    """Forks a process that waits to become a worker. Returns its number and the socket to it; None in the worker."""
    global waiting
    waiting = socketpair(AF_UNIX, SOCK_SEQPACKET)
    core.flush()
    shown = {start.stacks} if start.stacks else ()
    # Until it has a standard error of its own, its stacks would be taken for ours.
    pthread_sigmask(SIG_BLOCK, shown)
    try:
        pid = fork_safety.fork()
    except OSError:
        waiting = ()
        raise
    finally:
        pthread_sigmask(SIG_UNBLOCK, shown)  # in the worker, too
    if pid == 0:
        return None
    channel, theirs = waiting
    theirs.close()
    waiting = ()
    return pid, channel


def fork_once():
    """Forks a process that ends at once, so that libraries do what they do before a fork."""
    try:
        pid, channel = fork_process()
    except OSError:  # there is no room
        return
    channel.close()
    os.waitpid(pid, 0)


def become_worker():
    """Runs first in a forked process: waits for the descriptors of a worker, and for load."""
    global waiting
    if not waiting:
        return  # the user's own child
    try:
        (theirs, channel), waiting = waiting, ()
        theirs.close()
        control.close()
        core.PID = os.getpid()
        request, lent = receive(channel)
        channel.close()
        if not request:
            os._exit(0)
        if lent is None:
            raise OSError(EMFILE, os.strerror(EMFILE))
        separate(request, lent)
        start.greet()
        if core.receive() is None:
            os._exit(0)
    except BaseException as error:
        os.write(2, ("pyplug: the worker could not be forked: %r\n" % error).encode())
        os._exit(1)


def separate(request, numbers):
    """Gives a copy of the zygote descriptors, files and a tag of its own."""
    place, _, value = request.partition(b" ")
    place = int(place)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))  # the user's own may be below these numbers
    for number, own in zip(numbers, (core.source, core.sink, start.trouble, start.printed, place)):
        os.dup2(number, own, own == place)
        os.close(number)
    fork_safety.reopen_files()
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    os.dup2(start.printed, 1)
    os.dup2(start.trouble, 2)
    set_tag(value)
    if TAG in os.environ:
        os.environb[TAG.encode()] = value
