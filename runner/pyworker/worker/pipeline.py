"""Lets calls wait in the worker until the calls before them are answered.

pyplug cannot know which call runs when SIGINT arrives. So SIGINT interrupts a call only if a cancel frame for it has
come. The cancel frames stay in the input until they are handled. On Windows, where SIGINT is late, all calls run this
way. SIGURG says that pyplug wants the waiting calls back.
"""

import _signal
import os
from time import monotonic

import _pyplug_worker as core

UNBEGUN, TASK = b"NO"
LONG = 0.001  # seconds; after a longer call, the worker looks at the frames that have come
ALL = 1 << 32  # greater than the number of any call


class Way(core.Way):
    """Runs one call after the other, except those that were canceled or handed back."""

    current = 0  # the number of the call that began last
    back = 0  # calls up to this number do not begin if they were sent ahead
    canceled = frozenset()  # the calls for which a cancel had come at the last look
    looking = urged = False  # a look is in progress; a signal has requested one

    def __init__(self):
        urgent = getattr(_signal, "SIGURG", None)  # Windows has none
        if urgent is not None and _signal.getsignal(urgent) in (_signal.SIG_DFL, _signal.SIG_IGN):
            _signal.signal(urgent, lambda signum, where: self.interrupt(where))

    def invoke(self, number, body):
        """Runs a hook, or answers that its call was canceled while it waited."""
        if number in self.canceled:
            return core.part("errors").refuse(number, "canceled", "it had not begun")
        if self.current < number <= self.back < ALL:  # a look handed the call back while the previous one ended
            return core.send(UNBEGUN, number, b"")
        self.back = 0
        self.begin(number, body)

    def ahead(self, number, body, unless_failed):
        """Runs a hook whose call was sent ahead, or rejects that call and those behind it."""
        if self.urged:
            self.look()
        if core.tasks or unless_failed and (self.failed or self.current in self.canceled):
            self.back = ALL
        if number <= self.back:
            core.send(UNBEGUN, number, b"")
        else:
            self.begin(number, body)

    def begin(self, number, body):
        began = monotonic()
        self.current = number
        super().invoke(number, body)
        if monotonic() - began > LONG:
            self.look()

    def hand_back(self, number):
        """Rejects the calls up to a number that were sent ahead and have not begun."""
        if max(self.current, self.back) < number:
            self.back = number
            core.send(UNBEGUN, self.current + 1, b"")

    def look(self):
        """Finds the cancels that have come, and hands calls back. A signal handler may call it in user code."""
        if self.looking:  # another signal came while this one reads
            return
        self.looking, self.urged = True, False
        try:
            self.canceled, back = waiting()
            self.hand_back(back)
        finally:
            self.looking = False

    def interrupt(self, where):
        """Handles SIGINT and SIGURG: looks, in user code or before the next call, and interrupts a canceled call."""
        self.urged = True
        # While core.call itself runs, user code has not begun, or has ended. A forked child must not answer.
        if core.running and where.f_code is not core.call.__code__ and not self.looking and core.getpid() == core.PID:
            while self.urged:  # another signal may come while it looks
                self.look()
            if self.current in self.canceled:
                super().interrupt(where)

    def has_cancel(self, number):
        """Reports whether a cancel has come for a call. A signal handler may call it."""
        self.look()
        return number in self.canceled


def input_poll():
    """Returns a function that waits for input, optionally for a time in milliseconds, and reports whether there is any."""
    if os.name == "nt":
        return core.part("windows").has_input
    try:
        from select import poll, POLLIN
    except (ImportError, OSError):  # no descriptor is left
        return lambda timeout=None: False
    waiting = poll()
    waiting.register(core.source, POLLIN)
    return waiting.poll


def waiting():
    """Returns the calls for which a cancel frame has come, and the number of the last call to hand back, or 0."""
    found, back, has_input = set(), 0, input_poll()
    while core.getpid() == core.PID and has_input(0):  # a forked child must not read frames
        if not core.fill():
            break
    at = core.offset
    while at + 9 <= len(core.data):
        head = int.from_bytes(core.data[at : at + 9], "little")
        if head >> 32 & 255 == core.CANCEL:
            found.add(head >> 40)
        elif head >> 32 & 255 == core.BACK:
            back = head >> 40
        at += 9 + (head & 0xFFFFFFFF)
    return found, back
