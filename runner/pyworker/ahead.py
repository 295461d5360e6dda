"""Calls that are sent ahead, to wait in the worker until those before them are answered.

Loaded when load asks for it. There is then no telling from outside which call
SIGINT would hit: it is minded only by one that a cancel has come for. Cancels are
looked for in what has come, which is not used up by that.
"""

import _signal
from time import monotonic

import _pyplug_worker as core

try:
    from select import poll, POLLIN
except ImportError:  # Windows, which has no SIGINT for one process
    poll = None

OVERLAP = ord("O")
PATIENCE = 0.001  # seconds after which the calls that wait may have been given up

errors = core.part("errors")
run = core.invoke
current = 0  # the call that is running
canceled = frozenset()  # calls for which a cancel had come when it was last looked for
waiting = None  # tells whether there is input
looking = False  # SIGINT is being minded


def begin():
    """Comes after the import."""
    core.invoke = invoke
    if poll is not None and _signal.getsignal(_signal.SIGINT) is core.interrupt:
        _signal.signal(_signal.SIGINT, interrupt)


def overlap():
    """Comes before the event loop: from now on calls are begun while others wait."""
    global canceled
    if _signal.getsignal(_signal.SIGINT) is interrupt:
        _signal.signal(_signal.SIGINT, core.interrupt)  # the loop has its own
    core.send(OVERLAP, 0, b"")
    # Whoever gave a call up before it heard of that sends no SIGINT.
    canceled = cancels()


def invoke(number, body):
    """Runs a hook, unless its call was given up while it waited."""
    global current, canceled
    if number in canceled:
        return errors.refuse(number, "canceled", "it had not begun")
    current = number
    began = monotonic()
    run(number, body)
    current = 0
    if monotonic() - began > PATIENCE:
        canceled = cancels()


def interrupt(signum, where):
    """SIGINT: interrupts the user's code if its own call is cancelled."""
    global looking
    # The worker waits for input itself when there is nothing of the user's: a
    # cancel ends that.
    if looking or not core.running or where.f_code is core.call.__code__:
        return
    looking = True  # poll bears no second one
    wanted = current in cancels()
    looking = False
    if wanted:
        core.interrupt(signum, where)


def cancels():
    """The calls for which there is a cancel in what has come."""
    global waiting
    if poll is not None:
        if waiting is None:
            waiting = poll()
            waiting.register(core.source, POLLIN)
        while core.getpid() == core.PID and waiting.poll(0):  # what has come is not a child's
            if not core.fill():
                break
    found, at = set(), core.offset
    while at + 9 <= len(core.data):
        head = int.from_bytes(core.data[at : at + 9], "little")
        if head >> 32 & 255 == core.CANCEL:
            found.add(head >> 40)
        at += 9 + (head & 0xFFFFFFFF)
    return found
