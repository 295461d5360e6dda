"""Runs coroutines and async generators concurrently on one event loop.

The loop runs until the worker ends, and also waits for the protocol's input. So objects that belong to the loop survive
from call to call. When frames arrive, the loop stops until they are handled, because a plain function may run it itself.
"""

import asyncio
import os
import sys
import threading
from contextvars import ContextVar

import _pyplug_worker as core

GRACE = 0.02  # seconds after which an interrupted call is canceled if it has not ended by itself

values = core.part("values")
errors = core.part("errors")
pipeline = core.part("pipeline")

current = ContextVar("pyplug_call", default=0)  # the call that the running code belongs to
calls = core.tasks
begun = set()  # calls whose task has made its first step
canceled = set()  # calls for which a cancel has come
interrupted = set()  # calls that SIGINT has interrupted
loop = has_input = None  # the asyncio loop, and a function that reports whether there is input
arrived = False  # there are frames to handle
taking = False  # frames are being handled; a hook may run the loop meanwhile
unread = False  # input has come while a hook ran the loop
chunk = None  # the input that read_aside has read and that is still unused, or None while it reads
taken = None  # an Event for read_aside, set when all frames are handled, or None if the loop itself waits for input
over = None  # None while the worker runs; then the error that ends it, or False if it was asked to end


def serve(number, value):
    """Runs the loop until the worker ends. It begins with the awaitable of a call, if number is not 0.

    It returns False if the loop cannot be created.
    """
    global loop, has_input, taken, over
    try:
        loop = loop_of(value)
    except OSError as error:
        errors.answer(number, error, canceled=False)
        return False
    loop.close = lambda: None  # a hook must not close the loop, because other calls use it
    has_input = pipeline.input_poll()
    core.loop = sys.modules[__name__]
    if number:
        start_task(number, value)
    loop.call_soon(pause)
    if os.name == "nt":  # on Windows, the loop waits for sockets only
        taken = threading.Event()
        threading.Thread(target=read_aside, daemon=True).start()
    watch_input()
    while over is None:
        try:
            loop.run_forever()
        except (KeyboardInterrupt, SystemExit) as error:
            # A task that raised the exception has ended its call with it. If a callback raised it, the
            # interrupted call has not ended, so it is canceled.
            if isinstance(error, SystemExit) and not calls:  # a signal handler of the user raised it
                over = error
                ignore_input()
            for one in interrupted:
                loop.call_later(GRACE, cancel_task, one)
        while over is None and arrived:
            take_frames()
    close()
    if over:
        raise over
    return True


def loop_of(value):
    """Returns the loop of a future, or on Python 3.9 the loop of a lock made at import, or else a new loop."""
    if isinstance(value, asyncio.Future):
        return value.get_loop()
    if sys.version_info < (3, 10):
        made = getattr(getattr(asyncio.get_event_loop_policy(), "_local", None), "_loop", None)  # the loop that a lock has made, or None
        if made and not made.is_closed():
            return made
    return asyncio.new_event_loop()


def close():
    """Closes the loop as asyncio.run does."""
    tasks = asyncio.all_tasks(loop)
    for task in tasks:
        task.cancel()
    steps = [asyncio.gather(*tasks, return_exceptions=True)] if tasks else []
    steps += loop.shutdown_asyncgens(), loop.shutdown_default_executor()
    for step in steps:
        try:
            loop.run_until_complete(step)
        except (KeyboardInterrupt, SystemExit):
            pass
    del loop.close
    loop.close()
    core.loop = None


# Frames


def watch_input():
    if taken is None:
        loop.add_reader(core.source, readable)


def ignore_input():
    if taken is None:
        loop.remove_reader(core.source)


def readable():
    """Handles new input, called by the loop. If a hook runs the loop, the input waits for the end of that hook."""
    global unread
    if os.getpid() != core.PID:  # a forked child that still runs the loop
        core.leave(0)
    if taking:
        unread = True
        ignore_input()
    pause()


def read_aside():
    """Reads the input in a separate thread, one chunk at a time."""
    global chunk
    while over is None:
        found = os.read(core.source, 65536)
        taken.clear()
        chunk = found
        try:
            loop.call_soon_threadsafe(*([pause] if found else [finish, False]))
        except RuntimeError:  # the loop was closed meanwhile
            return
        taken.wait()


def add_chunk():
    """Adds the input that the thread has read. Returns False while the thread reads, because nobody else may read then."""
    global chunk
    if chunk:
        core.data, core.offset = bytearray(core.data[core.offset :]) + chunk, 0
        chunk = b""
    return chunk is not None


def pause():
    """Stops the loop so that serve handles the frames, unless it is already doing so."""
    global arrived
    if over is None and not taking and not arrived:  # a second stop would end the next run of uvloop, perhaps in a hook
        loop.stop()
    arrived = True


def take_frames():
    """Reads the input, and handles the frames, while the loop is stopped."""
    global arrived, chunk, taking, unread
    taking = True
    try:
        if has_input(0) and not core.fill():
            finish(False)
        while over is None:
            asyncio.set_event_loop(loop)  # a hook that calls asyncio.run removes it
            found = core.backlog.pop(0) if core.backlog else core.frame()
            if found is None:
                break
            if not core.handle(*found):
                finish(False)
    except BaseException as error:  # a malformed frame; exceptions of user code are answered earlier
        finish(error)
    if unread and over is None:
        watch_input()
    arrived = taking = unread = False
    if chunk is not None:
        chunk = None
        taken.set()


def finish(reason):
    """Makes serve return. reason is the error that serve raises, or False."""
    global over
    over = reason
    ignore_input()
    if not taking:
        loop.stop()


# Calls


def cancel(number):
    """Cancels a call. Returns False if it does not run here."""
    if number in calls and number not in canceled:
        canceled.add(number)
        if number in begun:  # canceling a task before its first step would prevent its answer
            cancel_task(number)
    return number in calls


def cancel_task(number):
    if number in calls:
        calls[number].cancel()


def start_task(number, value):
    """Starts a task that awaits a value and answers its call. The calls behind it do not wait for the answer."""
    if pipelined():
        core.send(pipeline.TASK, number, b"")
    before = current.set(number)
    task = loop.create_task(run(number, value))
    current.reset(before)
    if not task.done():
        calls[number] = task


def pipelined():
    """Reports whether calls wait in the worker, so that cancel frames say which call a signal is for."""
    return isinstance(core.way, pipeline.Way)


async def run(number, value):
    """Answers one call with the result of an awaitable, or with the items of a stream."""
    begun.add(number)
    done = core.RESULT
    try:
        if number in canceled:
            if hasattr(value, "close"):
                value.close()
            raise asyncio.CancelledError
        while values.is_awaitable(value):
            value = await value
        if not hasattr(type(value), "__aiter__") and type(values.plain(value)) is values.GENERATOR:
            value = stepped(values.plain(value))
        if hasattr(type(value), "__aiter__"):
            done = core.END
            await core.part("streams").Stream(number, value).run_async()
        else:
            core.finish(number, value)
    except BaseException as error:
        ended = number in canceled or number in interrupted
        errors.answer(number, error, canceled=ended, done=done)
    finally:
        calls.pop(number, None)
        for marks in (begun, canceled, interrupted):
            marks.discard(number)


async def stepped(generator):
    """Yields the items of a generator, which cannot run the loop itself."""
    try:
        for item in generator:
            yield item
    finally:
        generator.close()


# SIGINT


def interrupt(where):
    """Handles SIGINT: interrupts the only call, once. With several calls, the signal has no clear target."""
    if core.running:
        if not calls or pipelined():  # the target is clear, or a cancel frame names it
            core.way.interrupt(where)
    elif len(calls) == 1:
        (number,) = calls
        if number in interrupted or pipelined() and not has_cancel(number, where):
            return
        interrupted.add(number)
        if current.get() == number and in_user_code(where):
            raise KeyboardInterrupt
        loop.call_soon_threadsafe(cancel, number)


def has_cancel(number, where):
    """Reports whether a cancel has come while user code keeps the loop from reading it."""
    if not in_user_code(where):
        return False
    loop.call_soon_threadsafe(pause)  # handles the frames that are read here
    return core.way.has_cancel(number)


def in_user_code(frame):
    """Reports whether a frame is user code, or called by user code. Frames of the worker and the event loop are not."""
    while frame is not None and not frame.f_code.co_filename.startswith(core.OWN):
        if errors.is_users(frame.f_code):
            return True
        frame = frame.f_back
    return False
