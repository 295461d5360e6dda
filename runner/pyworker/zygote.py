"""The zygote: a process that has imported the user's file, and from which workers are forked.

Loaded when load asks for it, which is on Linux only. The import happens once; each
worker begins as a copy of what it left, whose memory is shared until it is written
to. runner/proc/adopt.go says how the zygote is asked, over descriptor 3.

Each worker runs the atexit handlers of the import when it ends, as it would had it
imported the file itself; the zygote runs none.
"""

import gc
import os
import sys
from _signal import SIG_BLOCK, SIG_UNBLOCK, SIGKILL, pthread_sigmask
from _socket import AF_UNIX, CMSG_SPACE, MSG_CTRUNC, SCM_RIGHTS, SOCK_SEQPACKET, SOL_SOCKET, socket, socketpair, timeout
from errno import EMFILE
from time import time_ns

import _pyplug_start as start
import _pyplug_worker as core

chance, risks = core.part("chance"), core.part("risks")

CONTROL = 3
LARGE = 32 << 20  # bytes
ROOM = 8  # descriptors that it takes to fork a worker
PAUSE = 0.05  # seconds; while workers are asked for, a spare would be in their way
TAG = "PYPLUG_RUN"
INSTALLED = tuple(os.sep + name + os.sep for name in ("site-packages", "dist-packages"))

control = None  # the socket
resource = None  # the standard library's module
collecting = ()  # when garbage is collected, as it was before the import
began = 0  # when the import did
files = {}  # the plugin's own files: their states
tag = 0  # where the tag is in memory
forked = False  # a worker was asked for before
waiting = ()  # both ends of the socket to the process that is being forked
spare = None  # a process that was forked in advance: its number, and the socket to it
large = False  # to fork takes so long that it is done in advance


def prepare():
    """Comes before the import."""
    global control, resource, collecting, began
    # First of those that the user's code may register.
    os.register_at_fork(after_in_child=born)
    control = socket(fileno=start.move(CONTROL, 200 + CONTROL))
    os.close(CONTROL)
    risks.prepare()
    chance.watch()
    import resource

    del sys.modules["resource"]
    # What the import makes is to be looked at once, when it is there.
    collecting = gc.get_threshold()
    gc.set_threshold(0)
    began = time_ns()


def settle(forced):
    """Comes after the import. Returns why no workers can be forked, "" when they can."""
    global large
    gc.collect()
    chance.settle()
    why = unable()
    if not why:
        risk = risks.settle()  # also for what workers do about some
        why = "" if forced else risk
    if not why:
        flush()
        files.update((path, state(path)) for path in own_files())
        for path, seen in files.items():
            if seen and began <= seen[0] <= time_ns():
                files[path] = None  # nobody knows what was imported
        gc.freeze()
        with open("/proc/self/statm") as told:
            large = int(told.read().split()[1]) * os.sysconf("SC_PAGESIZE") > LARGE
    else:
        try:
            control.close()
        except OSError:  # the user's code has
            pass
    if gc.get_threshold()[0] == 0:  # else they are the user's
        gc.set_threshold(*collecting)
    return why


def unable():
    """Why forking does not work at all."""
    global tag
    if not hasattr(gc, "freeze"):
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
    """Shows what C code has printed during the import, which each worker would print again."""
    core.flush()
    if "_ctypes" in sys.modules or any(path.endswith(".so") and is_foreign(path) for path in module_files()):
        try:
            from _ctypes import call_function, dlopen, dlsym

            call_function(dlsym(dlopen(None, 0), "fflush"), (None,))
        except (ImportError, OSError):  # a Python without
            pass


def is_foreign(path):
    """Tells whether this is not the standard library's."""
    return path.startswith(start.below) or any(part in path for part in INSTALLED)


def own_files():
    """Lists the files of the modules that come from below the plugin's directory."""
    for path in module_files():
        if path.startswith(start.below) and not any(part in path for part in INSTALLED):
            yield path


def module_files():
    """Lists the files of all modules."""
    for module in list(sys.modules.values()):
        try:  # one that is loaded when it is looked at is not looked at
            path = object.__getattribute__(module, "__dict__").get("__file__")
        except AttributeError:
            continue
        if isinstance(path, str):
            yield path


def state(path):
    """What tells a changed file."""
    try:
        found = os.stat(path)
    except OSError:
        return ()
    return found.st_mtime_ns, found.st_size


def changed():
    """Names one of the plugin's files that is not as it was imported."""
    return next((path for path, seen in files.items() if state(path) != seen), None)


def find_tag():
    """Where the tag is in the memory that others see as the environment of this process, and what it is."""
    with open("/proc/self/stat", "rb") as file:
        first = int(file.read().rpartition(b")")[2].split()[47])  # env_start, field 50
    with open("/proc/self/environ", "rb") as file:
        environment = b"\0" + file.read()
    name = b"\0" + TAG.encode() + b"="
    at = environment.index(name) + len(name)
    return first + at - 1, environment[at:].partition(b"\0")[0]


def set_tag(value):
    """Makes others see another tag, of the same length, in the environment of this process."""
    memory = os.open("/proc/self/mem", os.O_RDWR)
    try:
        os.pwrite(memory, value, tag)
    finally:
        os.close(memory)


def serve(kind, ready):
    """Says that it is ready, and answers requests until pyplug is gone. It returns in a worker, and only there."""
    try:
        core.send(kind, 0, ready)
        answer()
    except BaseException as error:  # a handler of the user's has raised it
        core.leave(core.part("errors").exit_code(error))
    chance.differ()


def answer():
    """Answers requests; returns in a worker."""
    global spare
    wanted = False  # a spare
    while True:
        control.settimeout(PAUSE if wanted else None)
        try:
            request, lent = hear(control)
        except timeout:
            wanted = False
            try:
                spare = breed()
            except OSError:  # there is no room
                continue
            if spare is None:
                return
            continue
        word, _, rest = request.partition(b" ")
        if word == b"fork":
            told = fork(rest, lent)
            if told is None:
                return
            wanted = large and spare is None
        elif word == b"reap":
            told = reap(int(rest))
        else:
            os._exit(0)
        control.send(told.encode("utf-8", "backslashreplace")[:4000])


def hear(way):
    """Receives a message and the descriptors that came with it, None when there was no room for all."""
    message, more, flags, _ = way.recvmsg(4096, CMSG_SPACE(4 * 4))
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
    """Makes a worker and returns what to tell; None in the worker."""
    global forked
    if numbers is None:
        return "errno %d" % EMFILE
    old = changed() if forked else None  # for the first it was imported
    forked = True
    try:
        if old is not None:
            return "refused changed: " + old
        pid = lend(rest, numbers)
        return None if pid is None else "pid %d" % pid
    except OSError as error:
        return "errno %d" % error.errno
    finally:
        for number in numbers:  # a worker has been sent its own
            os.close(number)


def lend(rest, numbers):
    """Lets a process be a worker with these descriptors, and returns its number; None in the worker."""
    global spare
    data = b"".join(number.to_bytes(4, sys.byteorder) for number in numbers)
    while True:
        spared, spare = spare, None
        child = spared or breed()
        if child is None:
            return None
        pid, way = child
        os.setpgid(pid, pid)
        try:
            way.sendmsg([rest], [(SOL_SOCKET, SCM_RIGHTS, data)])
            return pid
        except OSError:
            os.kill(pid, SIGKILL)
            os.waitpid(pid, 0)
            if spared is None:  # else it may have died long ago
                raise
        finally:
            way.close()


def reap(pid):
    """Takes the status of a dead worker."""
    # wait4 imports resource, which may be the name of a module of the user's.
    theirs = sys.modules.get("resource")
    sys.modules["resource"] = resource
    try:
        _, status, usage = os.wait4(pid, 0)
    except ChildProcessError:
        return "gone"
    finally:
        del sys.modules["resource"]
        if theirs is not None:
            sys.modules["resource"] = theirs
    return "status %d %d" % (status, usage.ru_maxrss)


def breed():
    """Forks a process that waits to be a worker. Returns its number and the socket to it; None in the worker."""
    global waiting
    waiting = socketpair(AF_UNIX, SOCK_SEQPACKET)
    core.flush()
    shown = {start.stacks} if start.stacks else ()
    # Until it has a standard error of its own, its stacks would be taken for ours.
    pthread_sigmask(SIG_BLOCK, shown)
    try:
        pid = os.fork()
    finally:
        pthread_sigmask(SIG_UNBLOCK, shown)  # in the worker, too
    if pid == 0:
        return None
    way, theirs = waiting
    theirs.close()
    waiting = ()
    return pid, way


def born():
    """Runs first in a process that was forked, which becomes a worker when it is lent its descriptors and load comes."""
    global waiting
    if not waiting:
        return  # the user's own child
    try:
        (theirs, way), waiting = waiting, ()
        theirs.close()
        control.close()
        core.PID = os.getpid()
        request, lent = hear(way)
        way.close()
        if not request:
            os._exit(0)
        if lent is None:
            raise OSError(EMFILE, os.strerror(EMFILE))
        take(request, lent)
        start.greet()
        if core.receive() is None:
            os._exit(0)
    except BaseException as error:
        os.write(2, ("pyplug: the worker could not be forked: %r\n" % error).encode())
        os._exit(1)


def take(request, numbers):
    """Makes a process of its own of a copy of the zygote."""
    place, _, value = request.partition(b" ")
    place = int(place)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))  # the user's own may be below these numbers
    for number, own in zip(numbers, (core.source, core.sink, start.trouble, place)):
        os.dup2(number, own, own == place)
        os.close(number)
    risks.own()
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    os.dup2(start.trouble, 1)
    os.dup2(start.trouble, 2)
    set_tag(value)
    if TAG in os.environ:
        os.environb[TAG.encode()] = value
