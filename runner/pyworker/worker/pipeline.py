"""The pipelined way: calls wait in the worker until the calls before them are answered.

pyplug cannot know which call runs when SIGINT arrives. So SIGINT interrupts a call only if a cancel frame for it has
come. The cancel frames stay among the frames to handle.
"""

from time import monotonic

import _pyplug_worker as core

UNBEGUN, TASK = b"NO"
LONG = 0.001  # seconds; after a call that took longer, cancels are looked for
QUICK = 0.01  # seconds within which the calls of a series must begin


class Way(core.Way):
    """Runs one call after the other, as far as they are not cancelled."""

    current = 0  # number of the running call
    until = 0.0  # when the time is over in which calls of the series may begin
    canceled = frozenset()  # the calls for which a cancel had come at the last look
    looking = False  # a signal handler is looking for cancels

    def invoke(self, number, body):
        """Runs a hook, or answers that its call was cancelled while it waited."""
        if number in self.canceled:
            return core.part("errors").refuse(number, "canceled", "it had not begun")
        now = monotonic()
        self.until = now + QUICK
        self.begin(number, body, now)

    def after(self, number, body, more):
        """Runs a hook, or rejects the call if a call before it in the series took long."""
        now = monotonic()
        if now < self.until and not core.tasks:
            if more:
                self.until = now + QUICK
            self.begin(number, body, now)
        else:
            self.until = 0.0  # no call behind it runs either
            core.send(UNBEGUN, number, b"")

    def begin(self, number, body, now):
        self.current = number
        super().invoke(number, body)
        self.current = 0
        if monotonic() - now > LONG:
            self.canceled = cancels()

    def interrupt(self, where):
        """SIGINT: interrupts user code if its own call is cancelled."""
        # While core.call itself runs, user code has not begun, or has ended.
        if core.running and where.f_code is not core.call.__code__ and self.has_cancel(self.current):
            super().interrupt(where)

    def has_cancel(self, number):
        """Reports whether a cancel has come for a call. A signal handler may call it."""
        if self.looking:  # a second signal came while this one reads
            return False
        self.looking = True
        found = number in cancels()
        self.looking = False
        return found


def input_poll():
    """Returns a function that reports whether there is input, after a time in milliseconds or, without it, when it comes."""
    try:
        from select import poll, POLLIN
    except (ImportError, OSError):  # Windows, which has no SIGINT for one process, or no descriptor is left
        return lambda timeout=None: False
    waiting = poll()
    waiting.register(core.source, POLLIN)
    return waiting.poll


def cancels():
    """Returns the calls for which a cancel frame has come."""
    found, has_input = set(), input_poll()
    while core.getpid() == core.PID and has_input(0):  # a child must not read them
        if not core.fill():
            break
    at = core.offset
    while at + 9 <= len(core.data):
        head = int.from_bytes(core.data[at : at + 9], "little")
        if head >> 32 & 255 == core.CANCEL:
            found.add(head >> 40)
        at += 9 + (head & 0xFFFFFFFF)
    return found
