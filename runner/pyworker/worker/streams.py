"""Answers calls with the items of generators and async generators.

A stream waits until it may send more. In the main thread it reads the frames itself, in a thread it waits for a lock,
and on the event loop it awaits a future.
"""

from _thread import allocate_lock
from time import monotonic

import _pyplug_worker as core

WINDOW = 262144  # the number of bytes of items that may be sent before pyplug grants more
BUSY = 0.002  # seconds after which a stream lets the event loop do other work

values = core.part("values")
errors = core.part("errors")


class Stream:
    """Answers one call with items."""

    def __init__(self, number, items):
        self.number, self.items = number, items
        self.granted, self.used = WINDOW, 0  # bytes; the main thread writes the first, the sending thread the second
        self.kind = core.ITEM  # the type of the next item's frame
        self.wake = None  # is called when more may be sent
        core.streams[number] = self

    def grant(self, size):
        self.granted += size
        if self.wake is not None:
            self.wake()

    def fits(self, body):
        """Reports whether an item may be sent now. An item of any size may be sent if no other item is in flight."""
        left = self.granted - self.used
        return len(body) <= left or left >= WINDOW

    def encode(self, item):
        """Encodes the next item, or raises Unrepresentable."""
        self.kind = core.ITEM_BYTES if isinstance(item, values.BINARY) else core.ITEM
        return values.body_of(item)

    def send(self, body):
        self.used += len(body)
        core.answer(self.kind, self.number, body)

    def end(self, error, canceled, close):
        """Closes the generator, and answers with the exception that ended the stream."""
        del core.streams[self.number]
        try:
            close()
        except BaseException:
            pass  # the answer is about the exception that ended the stream
        if type(error) is StopIteration:
            core.answer(core.END, self.number, b"")
        else:
            errors.answer(self.number, error, canceled=canceled, done=core.END)

    # In the main thread, without an event loop

    def run(self):
        has_input = core.part("pipeline").input_poll()
        try:
            self.take_frames()  # has_input does not see frames that came together with the call
            while True:
                while has_input(0):
                    self.read()
                body = self.encode(core.call(next, (self.items,)))
                while not self.fits(body):
                    if core.getpid() != core.PID:  # a child that the generator forked
                        core.leave(0)
                    core.call(has_input)  # SIGINT may end the wait, but not the read, so no byte is lost
                    self.read()
                self.send(body)
        except BaseException as error:
            self.end(error, core.asked or type(error) is GeneratorExit, self.close)

    def read(self):
        if not core.fill():
            self.quit()
        self.take_frames()

    def take_frames(self):
        """Handles the frames that concern the stream. Other frames wait in core.backlog."""
        for found in iter(core.frame, None):
            kind, number, _ = found
            if kind == core.CREDIT or kind == core.BACK:
                core.handle(*found)
            elif kind == core.QUIT:
                self.quit()
            elif kind != core.CANCEL:
                core.backlog.append(found)
            elif number == self.number:
                raise GeneratorExit
            elif any(waiting[1] == number for waiting in core.backlog):
                core.backlog[:] = [waiting for waiting in core.backlog if waiting[1] != number]
                errors.refuse(number, "canceled", "it had not begun")

    def quit(self):
        """Stops the stream, and then the worker."""
        core.backlog[:] = [(core.QUIT, 0, b"")]
        raise GeneratorExit

    def close(self):
        """Closes the generator. SIGINT may interrupt the close once."""
        before, core.asked = core.asked, False
        try:
            core.call(self.items.close)
        finally:
            core.asked = before

    # In a thread

    def run_in(self, thread, canceled):
        """Answers with the items of a generator, in the thread of the call. canceled has the canceled calls."""
        more = allocate_lock()
        more.acquire()
        self.wake = lambda: more.locked() and more.release()
        try:
            while True:
                thread.run(self.number, next, (self.items,))
                if thread.error is not None:
                    raise thread.error
                body = self.encode(thread.value)
                while not self.fits(body) and self.number not in canceled:
                    more.acquire()
                if self.number not in canceled:
                    self.send(body)
        except BaseException as error:
            thread.value = thread.error = None
            self.end(error, self.number in canceled, self.items.close)

    # On the event loop, where event_loop.run answers with the exceptions

    async def run_async(self):
        looked = monotonic()
        try:
            async for item in self.items:
                body = self.encode(item)
                while not self.fits(body):
                    more = core.loop.loop.create_future()
                    self.wake = lambda: more.done() or more.set_result(None)
                    await more
                self.send(body)
                if monotonic() - looked > BUSY:
                    await core.loop.asyncio.sleep(0)
                    looked = monotonic()
        finally:
            del core.streams[self.number]
            if hasattr(self.items, "aclose"):
                await self.items.aclose()
        core.answer(core.END, self.number, b"")
