"""The pipelined way: calls wait in the worker until the calls before them are answered.

pyplug cannot know which call runs when SIGINT arrives. So SIGINT interrupts a call only if a cancel frame for it has
come. The cancel frames stay among the frames to handle.
"""

from time import monotonic

import _pyplug_worker as core

try:
    from select import poll, POLLIN
except ImportError:  # Windows, which has no SIGINT for one process
    poll = None

# These are the functions of the plain way.
receive, write_frame, probe, start_task = core.receive, core.write_frame, core.probe, core.start_task
stream, cancel, end = core.stream, core.cancel, core.end

UNBEGUN, TASK = b"NO"
LONG = 0.001  # seconds; after a call that took longer, cancels are looked for
QUICK = 0.01  # seconds within which the calls of a series must begin

current = 0  # number of the running call
until = 0.0  # when the time is over in which calls of the series may begin
canceled = frozenset()  # the calls for which a cancel had come at the last look
waiting = None  # polls the input
looking = False  # a signal handler is looking for cancels


def invoke(number, body):
    """Runs a hook, or answers that its call was cancelled while it waited."""
    global until
    if number in canceled:
        return core.part("errors").refuse(number, "canceled", "it had not begun")
    began = monotonic()
    until = began + QUICK
    run(number, body, began)


def after(number, body, more):
    """Runs a hook, or rejects the call if a call before it in the series took long."""
    global until
    now = monotonic()
    if now < until and not core.tasks:
        if more:
            until = now + QUICK
        run(number, body, now)
    else:
        until = 0.0  # no call behind it runs either
        core.send(UNBEGUN, number, b"")


def run(number, body, now):
    """Runs a hook."""
    global current, canceled
    current = number
    core.invoke(number, body)
    current = 0
    if monotonic() - now > LONG:
        canceled = cancels()


def interrupt(where):
    """SIGINT: interrupts user code if its own call is cancelled."""
    # While core.call itself runs, user code has not begun, or has ended.
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
    """Reports whether there is input; True if poll is missing."""
    global waiting
    if poll is None:
        return True
    if waiting is None:
        waiting = poll()
        waiting.register(core.source, POLLIN)
    return bool(waiting.poll(0))


def cancels():
    """Returns the calls for which a cancel frame has come."""
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
