"""Calls that are sent ahead, and wait in the worker until the calls before them are answered.

Loaded when load asks for it, or with the first series of calls. From outside nobody can tell which call SIGINT would
hit. So it interrupts only a call that a cancel has come for. Cancels are looked for
in the frames that have come, and stay there.
"""

from time import monotonic

import _pyplug_worker as core

try:
    from select import poll, POLLIN
except ImportError:  # Windows, which has no SIGINT for one process
    poll = None

# What is as in the plain way.
receive, write_frame, probe, start_task = core.receive, core.write_frame, core.probe, core.start_task
stream, cancel, end = core.stream, core.cancel, core.end

UNBEGUN, OVERLAP = b"NO"
LONG = 0.001  # seconds; after a longer call, calls that wait may have been cancelled
QUICK = 0.01  # seconds in which the calls of a series begin

current = 0  # the call that runs
until = 0.0  # when the series ends
canceled = frozenset()  # the calls for which a cancel had come when it was last looked for
waiting = None  # polls the input
looking = False  # an interrupt looks for cancels


def invoke(number, body):
    """Runs a hook, unless its call was cancelled while it waited."""
    global until
    if number in canceled:
        return core.part("errors").refuse(number, "canceled", "it had not begun")
    began = monotonic()
    until = began + QUICK
    run(number, body, began)


def after(number, body):
    """Runs a hook, unless a call before it in the series takes long."""
    global until
    now = monotonic()
    if now < until and not core.tasks:
        run(number, body, now)
    else:
        until = 0.0  # nor does any call behind it run
        core.send(UNBEGUN, number, b"")


def run(number, body, now):
    """Runs a hook."""
    global current, canceled
    current = number
    core.invoke(number, body)
    current = 0
    if monotonic() - now > LONG:
        canceled = cancels()


def loop_started():
    """From now on calls begin while others wait."""
    global canceled
    core.send(OVERLAP, 0, b"")
    # Whoever cancelled a call before reading that frame sends no SIGINT.
    canceled = cancels()


def interrupt(where):
    """SIGINT: interrupts user code if its own call is cancelled."""
    # If core.call itself is interrupted, no user code runs yet, or no more.
    if core.running and where.f_code is not core.call.__code__ and has_cancel(current):
        core.interrupt(where)


def has_cancel(number):
    """Reports whether a cancel has come for a call. A signal handler may call it."""
    global looking
    if looking:  # poll allows no second one at the same time
        return False
    looking = True
    found = number in cancels()
    looking = False
    return found


def has_input():
    """Reports whether there is input, as far as that can be known without reading."""
    global waiting
    if poll is None:
        return True
    if waiting is None:
        waiting = poll()
        waiting.register(core.source, POLLIN)
    return bool(waiting.poll(0))


def cancels():
    """The calls for which there is a cancel among the frames that have come."""
    while poll is not None and core.getpid() == core.PID and has_input():  # a child must not read them
        if not core.fill():
            break
    found, at = set(), core.offset
    while at + 9 <= len(core.data):
        head = int.from_bytes(core.data[at : at + 9], "little")
        if head >> 32 & 255 == core.CANCEL:
            found.add(head >> 40)
        at += 9 + (head & 0xFFFFFFFF)
    return found
