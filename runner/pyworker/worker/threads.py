"""Runs several plain functions at once, in threads.

The main thread reads the frames, and runs async code on the event loop. Every other call runs in an idle thread, or
in a new one. A cancel raises KeyboardInterrupt in the thread of its call as soon as the thread runs Python code.
"""

import os
import sys
from _queue import SimpleQueue
from _thread import allocate_lock, get_ident, start_new_thread
from time import sleep

import _pyplug_worker as core

try:  # import at the start, while there are descriptors left
    from ctypes import c_ulong, py_object, pythonapi
except (ImportError, OSError):  # calls cannot be interrupted
    pythonapi = None

ASYNC = 0x80 | 0x200  # the code flags of coroutines and async generators
TRACE = ord("T")
GRACE = 0.1  # seconds after an interrupt until the worker reports where the call still runs
MOMENT = 0.0005  # seconds between two looks at another thread's progress
END = 200  # the number of looks before the worker stops waiting for idle threads

# Load the parts that threads need before there are any threads.
values, errors = core.part("values"), core.part("errors")
streams, event_loop = core.part("streams"), core.part("event_loop")
core.part("arguments"), core.part("shapes"), core.part("times"), core.part("probe")

made = []  # all threads
# The threads without a call. For each call the main thread removes one, while any of them may run it.
idle = []
waiting = SimpleQueue()  # calls for idle and new threads
active = set()  # calls that are in a thread, or on their way from there to the loop
running = {}  # number → thread that runs user code; whoever removes an entry decides whether the call was interrupted
canceled = set()  # active calls for which a cancel has come
sending = allocate_lock()  # held to write a frame


# The main thread


core.awaited = 0, None  # starts the event loop now, so that it exists when a thread needs it


class Way(core.Way):
    """Runs every call that is not async in a thread."""

    def write(self, frame):
        with sending:
            super().write(frame)

    def run(self, number, hook, function, args, kwargs):
        code = getattr(hook, "__code__", None)
        if code is not None and code.co_flags & ASYNC:
            return super().run(number, hook, function, args, kwargs)
        active.add(number)
        try:
            if idle:
                idle.pop()
            else:
                thread = Thread()
                start_new_thread(thread.work, ())
                made.append(thread)
            waiting.put((number, function, args, kwargs))
        except BaseException as error:  # a thread cannot be started
            active.discard(number)
            errors.answer(number, error, canceled=False)

    def cancel(self, number):
        """Interrupts a call at once, or when it next runs user code."""
        if number not in active:
            return
        canceled.add(number)
        if number in core.streams:
            core.streams[number].grant(0)
        thread = running.pop(number, None)
        if thread is not None:
            raise_in(thread.ident, KeyboardInterrupt)
            thread.interrupted = True
            try:
                start_new_thread(trace, (number, thread.ident))
            except RuntimeError:  # a thread cannot be started
                pass

    def end(self):
        """Waits until all threads that do not run user code are idle. Others hold objects that Python must finalize."""
        for _ in range(END):
            if len(idle) + len(running) >= len(made):
                break
            sleep(MOMENT)


def trace(number, ident):
    """Reports where an interrupted call still runs. C code may never see the interrupt."""
    sleep(GRACE)
    found = []
    frame = sys._current_frames().get(ident)
    while frame is not None:
        found.insert(0, (frame.f_code, frame.f_lineno))
        frame = frame.f_back
    found = errors.listed(found)
    if found and number in active:  # otherwise the call is answered, and the thread may run another one
        core.send(TRACE, number, core.encode({"python": {"frames": found}}))


def raise_in(ident, what):
    """Raises an exception in a thread as soon as it runs Python code. None withdraws the exception."""
    if pythonapi is not None:
        pythonapi.PyThreadState_SetAsyncExc(c_ulong(ident), py_object(what) if what else None)


def to_loop(number, value):
    """Passes a call from a thread to the loop, because its value must be awaited. An earlier cancel applies there, too."""
    event_loop.start_task(number, value)
    active.discard(number)
    if number in canceled:
        canceled.discard(number)
        event_loop.cancel(number)


# The other threads


class Thread:
    """Runs one call after the other in a thread until the process ends."""

    value = error = None  # the result of the user code
    interrupted = False  # KeyboardInterrupt was raised in the running call

    def work(self):
        self.ident = get_ident()
        while True:
            answer(self, *waiting.get())  # an idle thread must not hold the user's objects
            idle.append(self)

    def run(self, number, function, args=(), kwargs=core.NOTHING):
        """Runs user code and stores its value or error. Returns whether it was interrupted."""
        self.value, self.error, self.interrupted = None, None, False
        # One interruption may come anywhere below.
        try:
            try:
                running[number] = self
                if number in canceled:
                    raise KeyboardInterrupt
                self.value = function(*args, **kwargs)
            except BaseException as error:
                self.error = error
            return self.end_interruptible(number)
        except KeyboardInterrupt as error:
            self.error = self.error or error
            return self.end_interruptible(number)

    def end_interruptible(self, number):
        """Ends the time in which the call may be interrupted. Returns whether it was interrupted."""
        if running.pop(number, None) is not None:
            return number in canceled
        while not self.interrupted:
            sleep(MOMENT)
        raise_in(self.ident, None)
        return True


def answer(thread, number, function, args, kwargs):
    """Runs one call, and answers it or passes it to the loop, even if the worker itself fails."""
    try:
        interrupted = thread.run(number, function, args, kwargs)
        value, error = values.plain(thread.value), thread.error
        thread.value = thread.error = None
        if error is not None:
            errors.answer(number, error, (function, args, kwargs), canceled=interrupted)
        elif values.is_awaitable(value) or hasattr(type(value), "__aiter__"):
            if event_loop.loop is None:  # the loop needs descriptors, and none was left
                raise RuntimeError("there is no event loop")
            return event_loop.loop.call_soon_threadsafe(to_loop, number, value)
        elif type(value) is values.GENERATOR:
            streams.Stream(number, value).run_in(thread, canceled)
        else:
            core.finish(number, value)
    except BaseException as error:
        try:
            errors.bare(number, error)
        except BaseException:  # otherwise the caller would wait forever
            os._exit(1)
    active.discard(number)
    canceled.discard(number)
    core.streams.pop(number, None)
