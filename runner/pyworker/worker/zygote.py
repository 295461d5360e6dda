"""Runs the zygote: a process that has imported the user's file, and from which workers are forked.

runner/proc describes the requests that the zygote answers on a socket. When a worker exits, it runs the finalizers and
atexit handlers of the import, as if it had imported the file itself. The zygote does not run them.
"""

import atexit
import gc
import os
import sys
from _socket import CMSG_SPACE, MSG_CTRUNC, socket
from errno import EMFILE

import _pyplug_start as start
import _pyplug_worker as core

reseed, fork_safety = core.part("reseed"), core.part("fork_safety")

TAG = "PYPLUG_RUN"

control = None  # the socket for pyplug's requests
tag = 0  # the address of the tag in memory
lent = None  # for the process being forked: (request, descriptors), or () to exit at once


def prepare(number):
    """Prepares the zygote before the import. number is the descriptor of the socket."""
    global control
    # Register before the user's code does, so that become_worker runs first.
    os.register_at_fork(after_in_child=become_worker)
    if hasattr(gc, "unfreeze"):  # otherwise frozen objects would not be finalized, and their files not flushed
        atexit.register(gc.unfreeze)
    control = socket(fileno=start.move(number, 204))
    os.close(number)
    fork_safety.prepare()
    reseed.watch()


def check(forced):
    """Returns why workers cannot be forked after the import, or "" if they can."""
    gc.collect()
    reseed.end_watch()
    risk = unable() or fork_safety.check(fork_once)
    if risk and (not forced or not tag):
        try:
            control.close()
        except OSError:  # the user's code has closed it
            pass
        return risk
    core.flush()
    gc.freeze()
    return ""


def unable():
    """Returns why forking cannot work at all, or "" if it can. It finds the tag in the memory of the environment."""
    global tag
    if not hasattr(gc, "freeze"):
        return "%s has no gc.freeze" % sys.implementation.name
    try:
        os.fstat(control.fileno())
        with open("/proc/self/stat", "rb") as file:
            first = int(file.read().rpartition(b")")[2].split()[47])  # env_start, field 50
        with open("/proc/self/environ", "rb") as file:
            environment = b"\0" + file.read()
        at = environment.index(b"\0" + TAG.encode() + b"=") + len(TAG) + 1
        start.write_memory(first + at, environment[at + 1 :].partition(b"\0")[0])
        tag = first + at
    except (OSError, ValueError):
        return "its environment cannot be accessed after the import"
    return ""


def serve(kind, ready):
    """Reports ready, and answers requests until pyplug is gone. It returns only in workers."""
    try:
        core.send(kind, 0, ready)
        answer()
    except BaseException as error:  # from a signal handler of the user
        core.leave(core.part("errors").exit_code(error))
    reseed.reseed()


def answer():
    """Answers requests. It returns only in workers."""
    while True:
        message, more, flags, _ = control.recvmsg(4096, CMSG_SPACE(5 * 4))
        word, _, rest = message.partition(b" ")
        if word == b"fork":
            rights = b"".join(some for _, _, some in more)
            numbers = [int.from_bytes(rights[at : at + 4], sys.byteorder) for at in range(0, len(rights) - 3, 4)]
            reply = fork(rest, numbers, flags & MSG_CTRUNC)
            if reply is None:
                return
        elif word == b"reap":
            reply = reap(int(rest))
        else:
            os._exit(0)
        control.send(reply.encode("utf-8", "backslashreplace")[:4000])


def fork(request, numbers, cut):
    """Forks a worker with descriptors, unless some were cut off. Returns the reply, or None in the worker."""
    global lent
    try:
        if cut:
            raise OSError(EMFILE, os.strerror(EMFILE))
        lent = request, numbers
        pid = fork_safety.fork()
        if pid == 0:
            return None
        os.setpgid(pid, pid)
        return "pid %d" % pid
    except OSError as error:
        return "errno %d" % error.errno
    finally:
        lent = None
        for number in numbers:  # the worker has copies
            os.close(number)


def reap(pid):
    try:
        return "status %d" % os.waitpid(pid, 0)[1]
    except ChildProcessError:
        return "gone"


def fork_once():
    """Forks a process that exits at once, so that libraries run their code before a fork."""
    global lent
    lent = ()
    try:
        os.waitpid(fork_safety.fork(), 0)
    except OSError:  # a process cannot be started
        pass
    lent = None


def become_worker():
    """Turns a forked process into a worker, before other fork handlers run, and waits for load."""
    if lent is None:
        return  # user code has forked this process
    try:
        control.close()
        core.PID = os.getpid()
        if not lent:
            os._exit(0)
        separate(*lent)
        start.greet()
        if core.receive() is None:
            os._exit(0)
    except BaseException as error:
        os.write(2, ("pyplug: the worker could not be forked: %r\n" % error).encode())
        os._exit(1)


def separate(request, numbers):
    """Gives a copy of the zygote its own descriptors and tag."""
    place, _, value = request.partition(b" ")
    place = int(place)
    for number, own in zip(numbers, (start.printed, start.trouble, core.source, core.sink, place)):
        os.dup2(number, own, own == place)
        os.close(number)
    numbers.clear()
    os.dup2(start.printed, 1)
    os.dup2(start.trouble, 2)
    start.write_memory(tag, value)
    if TAG in os.environ:
        os.environb[TAG.encode()] = value
