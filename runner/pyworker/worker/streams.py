"""Streams of items from generators, while no event loop runs.

Loaded with the first generator. A stream that has to wait until it may send more
reads frames itself, and leaves those for others in core.backlog.
"""

try:
    from select import poll, POLLIN
except (ImportError, OSError):  # Windows, or no descriptor is left: a cancel is then seen when the stream has to wait
    poll = None

import _pyplug_worker as core

WINDOW = 262144  # bytes of items that may be under way

values = core.part("values")
errors = core.part("errors")


class Stopped(Exception):
    """The stream is cancelled, or the worker is to end."""


class Stream:
    """One generator whose items go out."""

    def __init__(self, number, generator):
        self.number = number
        self.generator = generator
        self.credit = WINDOW
        self.waiting = None
        if poll is not None:
            self.waiting = poll()
            self.waiting.register(core.source, POLLIN)

    def run(self):
        """Sends the items until they end. Raises what the generator or its items raise."""
        while True:
            self.read_ahead()
            if core.asked:
                raise Stopped
            try:
                item = core.call(next, (self.generator,))
            except StopIteration:
                return
            body = values.encode(item)
            while len(body) > self.credit < WINDOW:
                self.wait()
            self.credit -= len(body)
            core.answer(core.ITEM, self.number, body)

    def read_ahead(self):
        """Takes the frames that have come."""
        while self.waiting is not None and self.waiting.poll(0):
            if not core.fill():
                self.end()
            self.take()

    def wait(self):
        """Waits for frames."""
        if core.getpid() != core.PID:  # a child of the generator's
            core.leave(0)
        if self.waiting is not None:
            # SIGINT may end this, but not the reading: no byte is lost.
            try:
                core.call(self.waiting.poll)
            except KeyboardInterrupt:
                raise Stopped from None
        if not core.fill():
            self.end()
        self.take()
        if core.asked:
            raise Stopped

    def take(self):
        """Does what the frames that were read say, as far as they are for the stream."""
        found = core.frame()
        while found is not None:
            kind, number, body = found
            if kind == core.CREDIT:
                if number == self.number:
                    self.credit += int.from_bytes(body, "little")
            elif kind == core.QUIT:
                self.end()
            elif kind != core.CANCEL:
                core.backlog.append(found)
            elif number == self.number:
                raise Stopped
            elif any(waiting[1] == number for waiting in core.backlog):
                core.backlog[:] = [waiting for waiting in core.backlog if waiting[1] != number]
                errors.refuse(number, "canceled", "it had not begun")
            found = core.frame()

    def end(self):
        """Stops the stream, and then the worker."""
        core.backlog[:] = [(core.QUIT, 0, b"")]
        raise Stopped


def stream(number, generator):
    """Answers a call with the items of a generator."""
    where = Stream(number, generator)
    # What came with the call's own frame is not seen by poll.
    try:
        where.take()
        where.run()
    except Stopped:
        python = {"type": "GeneratorExit", "message": "", "frames": errors.standing(generator)}
        close(generator)
        errors.refuse(number, "canceled", "interrupted", python=python)
    except values.Unrepresentable as trouble:
        close(generator)
        values.refuse(number, trouble)
    except BaseException as error:
        close(generator)
        errors.answer(number, error, done=core.END)
    else:
        core.answer(core.END, number, b"")


def close(generator):
    """Lets a generator clean up, which SIGINT may interrupt once."""
    before, core.asked = core.asked, False
    try:
        core.call(generator.close)
    except BaseException:
        pass  # the caller gets the exception that ended the stream
    core.asked = before
