"""Plain functions in threads, several at once.

Loaded when load asks for it. The main thread reads the frames, and runs all that
is async on the one loop; every other call goes to a thread that is idle, else to a
new one: pyplug sends no more calls than may run at once. A cancel raises
KeyboardInterrupt in the thread of its call, when that runs Python code next.
"""

import os
import sys
from _thread import allocate_lock, get_ident, start_new_thread
from time import sleep

import _pyplug_worker as core

try:
    from select import poll, POLLIN
except ImportError:  # Windows
    poll = None

WINDOW = 262144  # bytes of items that may be under way
ASYNC = 0x80 | 0x200  # of the flags of a coroutine's code, and an async generator's
TRACE = ord("T")
GRACE = 0.1  # seconds after which an interrupted call that goes on is told where it is
MOMENT = 0.0005  # seconds between looks at whether the main thread has done something

# What threads need is loaded before there are any.
values, errors, probe = core.part("values"), core.part("errors"), core.part("probe")
core.part("hooks"), core.part("describe")

idle = []  # threads without a call
active = set()  # calls that are in a thread, or on their way from there to the loop
running = {}  # number → thread that runs the user's code; who takes it out decides
canceled = set()  # active calls for which a cancel has come
windows = {}  # number → Window of a stream
awaited = []  # what waits for the loop: (number, value, deliver)
loop = None  # the asyncio part, when it has one
sending, starting = allocate_lock(), allocate_lock()
handle_one, send_one = core.handle, core.send
bell = ring = waiting = None  # what wakes the main thread, and what it waits with


def begin():
    """Comes after the import."""
    core.handle, core.send = handle, send
    if poll is not None:
        core.receive = receive


# The main thread


def receive():
    """Waits for a frame, or for something awaitable that a thread has found."""
    global bell, ring, waiting
    if waiting is None:
        bell, ring = os.pipe()
        waiting = poll()
        waiting.register(core.source, POLLIN)
        waiting.register(bell, POLLIN)
    found = core.frame()
    while found is None:
        if awaited:
            core.awaited = awaited.pop(0)
            return core.CREDIT, 0, b""  # which does nothing
        ready = [descriptor for descriptor, _ in waiting.poll()]
        if bell in ready:
            os.read(bell, 4096)
        elif not core.fill():
            return None
        found = core.frame()
    return found


def handle(kind, number, body):
    """Does what a frame says; False when it says quit."""
    try:
        if kind == core.CALL:
            invoke(number, body)
        elif kind == core.PROBE:
            function = probe.find(number)
            if function is not None:
                in_thread(number, function, (), core.NOTHING, probe.judge)
        elif kind == core.CANCEL and number in active:
            cancel(number)
        elif kind == core.CREDIT and number in windows:
            windows[number].grant(int.from_bytes(body, "little"))
        else:
            return handle_one(kind, number, body)
    except core.Lost as lost:
        core.bare(number, lost.args[0])
    return True


def invoke(number, body):
    """Runs the hook that a call frame names: in a thread unless it is async."""
    try:
        request = core.decode(body)
    except (ValueError, RecursionError) as error:
        return errors.undecodable(number, error)
    function = core.find(number, request["hook"])
    if function is None:
        return
    args, kwargs = request.get("args", ()), request.get("kwargs", core.NOTHING)
    code = getattr(function, "__code__", None)
    try:
        if code is not None and code.co_flags & ASYNC:
            core.awaited = number, function(*args, **kwargs), core.finish
        else:
            in_thread(number, function, args, kwargs, core.finish)
    except BaseException as error:
        errors.answer(number, error, function, canceled=False)


def in_thread(number, function, *task):
    """Hands a call to a thread; answers it when there can be no more of them."""
    task = (number, function) + task
    active.add(number)
    try:
        if idle:
            thread = idle.pop()
            thread.task = task
            thread.turn.release()
        else:
            start_new_thread(Thread().work, task)
    except BaseException as error:
        active.discard(number)
        errors.answer(number, error, function, canceled=False)


def cancel(number):
    """Interrupts a call, now or when it runs user code next."""
    canceled.add(number)
    window = windows.get(number)
    if window is not None:
        window.grant(0)
    thread = running.pop(number, None)
    if thread is not None:
        interrupt(thread.ident, KeyboardInterrupt)
        thread.told = True
        try:
            start_new_thread(trace, (number, thread.ident))
        except RuntimeError:  # there can be no more of them
            pass


def trace(number, ident):
    """Tells where a call is that is interrupted and goes on: in C code, it may never see that."""
    sleep(GRACE)
    found = []
    frame = sys._current_frames().get(ident)
    while frame is not None:
        errors.add_frame(found, frame, frame.f_lineno)
        frame = frame.f_back
    if found and number in active:  # else it has answered, and the thread may be at another call
        core.send(TRACE, number, core.encode({"frames": errors.shorten(found[::-1])}))


def interrupt(ident, what):
    """Has an exception raised in a thread when it runs Python code next; None takes it back."""
    try:
        from ctypes import c_ulong, py_object, pythonapi
    except ImportError:  # a Python without: the call is not interrupted
        return
    pythonapi.PyThreadState_SetAsyncExc(c_ulong(ident), py_object(what) if what else None)


def overlap():
    """Comes when there is an event loop."""
    global loop
    with starting:
        loop = sys.modules["_pyplug_aio"]
        while awaited:
            to_loop(*awaited.pop(0))
    for number in active.intersection(loop.calls):
        moved(number)


def to_loop(number, value, deliver):
    """Begins what a thread has found to be awaitable."""
    loop.start(number, value, deliver)
    moved(number)


def moved(number):
    """Leaves a call to the loop, with the cancel that may have come before."""
    active.discard(number)
    if number in canceled:
        canceled.discard(number)
        loop.control(core.CANCEL, number, b"")


# The other threads


class Thread:
    """One thread, which makes the calls that it is handed until the process ends."""

    def __init__(self):
        self.turn = allocate_lock()
        self.turn.acquire()
        self.task = self.value = self.error = None
        self.ident = 0
        self.told = False  # that it is interrupted

    def work(self, *task):
        self.ident = get_ident()
        while True:
            answer(self, *task)
            task = None
            idle.append(self)
            self.turn.acquire()
            task, self.task = self.task, None

    def run(self, number, function, args=(), kwargs=core.NOTHING):
        """Runs user code, whose value or error it keeps; True when it was interrupted."""
        self.value, self.error, self.told = None, None, False
        # An interruption may come anywhere below, but only one.
        try:
            try:
                running[number] = self
                if number in canceled:
                    raise KeyboardInterrupt
                self.value = function(*args, **kwargs)
            except BaseException as error:
                self.error = error
            return self.settle(number)
        except KeyboardInterrupt as error:
            self.error = self.error or error
            return self.settle(number)

    def settle(self, number):
        """Comes after user code: from now on nothing is interrupted. True when it was."""
        if running.pop(number, None) is not None:
            return number in canceled
        while not self.told:
            sleep(MOMENT)
        interrupt(self.ident, None)
        return True


def answer(thread, number, *task):
    """Makes one call in a thread and answers it, whatever the worker meets while it does."""
    try:
        make(thread, number, *task)
    except BaseException as error:
        try:
            core.bare(number, error)
        except BaseException:  # else its caller would wait for ever
            os._exit(1)
        finally:
            settled(number)


def make(thread, number, function, args, kwargs, deliver):
    """Makes one call, and answers it unless that is left to the loop."""
    interrupted = thread.run(number, function, args, kwargs)
    value, error = thread.value, thread.error
    thread.value = thread.error = None
    if error is None and (values.is_awaitable(value) or hasattr(type(value), "__aiter__")):
        return on_loop(number, value, deliver)
    if error is not None:
        errors.answer(number, error, function, canceled=interrupted)
    elif type(value) is values.GENERATOR:
        stream(thread, number, value)
    else:
        deliver(number, value)
    settled(number)


def settled(number):
    """Forgets a call that is answered."""
    active.discard(number)
    canceled.discard(number)
    windows.pop(number, None)


def on_loop(number, value, deliver):
    """Hands something awaitable to the one loop."""
    with starting:
        if loop is not None:
            loop.loop.call_soon_threadsafe(to_loop, number, value, deliver)
        elif poll is not None:
            awaited.append((number, value, deliver))
            os.write(ring, b"!")
        else:
            active.discard(number)
            errors.refuse(number, "raised", "only an async function can be awaited while calls run in threads")


def send(kind, number, body):
    """Writes a frame, one at a time."""
    if os.getpid() != core.PID:  # where nobody releases what another thread held
        core.leave(0)
    with sending:
        send_one(kind, number, body)


class Window:
    """How much more a stream may send."""

    def __init__(self):
        self.granted = WINDOW  # the main thread counts this,
        self.used = 0  # and the stream's own this
        self.more = allocate_lock()
        self.more.acquire()

    def grant(self, size):
        self.granted += size
        if self.more.locked():
            self.more.release()

    def take(self, number, size):
        """Waits until size bytes may come; False when the call is cancelled."""
        while size > self.granted - self.used < WINDOW and number not in canceled:
            self.more.acquire()
        self.used += size
        return number not in canceled


def stream(thread, number, generator):
    """Answers with the items of a generator."""
    window = windows[number] = Window()
    trouble = None
    try:
        while True:
            thread.run(number, next, (generator,))
            if thread.error is not None:
                break
            body = values.encode(thread.value)
            if window.take(number, len(body)):
                core.flush()
                core.send(core.ITEM, number, body)
    except values.Unrepresentable as error:
        trouble = error
    interrupted, error = number in canceled, thread.error
    thread.value = thread.error = None
    del windows[number]
    stood = errors.standing(generator)
    try:
        generator.close()
    except BaseException:
        pass  # what ended the stream is what the call is told
    if trouble is not None:
        values.refuse(number, trouble)
    elif type(error) is StopIteration:
        core.flush()
        core.send(core.END, number, b"")
    else:
        errors.answer(number, error, canceled=interrupted, stood=stood)
