"""Reads frames, calls the functions of one Python file, and answers: the core of pyplug's worker.

parts.py loads the core at every start, so it imports nothing slow. It loads other parts when it first needs them.
../frames.go describes the protocol.

Calls run in one of three ways. `way` is the current one, and Way is the common interface:

    Way           one call after the other, in the main thread
    pipeline.Way  the same, with calls that wait in the worker
    threads.Way   a thread for each plain function

Awaitables, and all streams once there is a loop, run on the event loop. `loop` is then the module event_loop, whose
functions start_task, cancel and interrupt the core calls.

The state is in module globals, because a warm call may take only 20 microseconds. The comment of a global names the
other modules that write to it, after a semicolon.
"""

import os
import sys
from os import getpid, read, write

CALL, AHEAD, UNLESS, BACK, CANCEL, CREDIT, DESCRIBE, PROBE, QUIT = b"CAUBKWDPQ"
VARARGS = 0x04  # a code flag
RESULT, BYTES, ITEM, ITEM_BYTES, END, ERROR = b"RBIJZE"
LARGEST = 512 << 20  # the maximum size of a frame's body in bytes; a header with more is garbage

OWN = "<pyplug "  # the prefix of the names of the worker's own files
PID = getpid()  # this process; zygote
FUNCTION = type(lambda: None)
PLAIN = {str, int, float, bool, type(None), list, dict, tuple}  # the encoder writes them without convert
NOTHING = {}
# The annotations and the types of defaults that the core checks without converters.
KINDS = {kind: kind for kind in (str, int, float, bool)}
KINDS.update({kind.__name__: kind for kind in list(KINDS)})
from_bytes = int.from_bytes

source = sink = 0  # the protocol's descriptors; start
data, offset = b"", 0  # the bytes that were read, and the number of them that were used
backlog = []  # frames that a stream has read and that other calls need; streams
streams = {}  # number → the Stream that answers the call; streams
nan, probe_name = "error", ""  # the representation of NaN, and the name of the health function; start
plugin = plugin_file = None  # the name and the file of the user's module once it is loaded; start, modules
namespace = {}  # name → attribute of that module; start
encode = decode = None  # functions for JSON; start
known = {}  # name → hook, for the hooks that were looked up before; hooks, start
expected = {}  # hook → the types of its parameters, by name, if the core itself checks them; hooks
converts = True  # arguments are converted as annotations say; start
modules = 0  # the length of sys.modules when the plugin's files were last listed; start
running = False  # user code runs, and SIGINT may interrupt it
asked = False  # SIGINT came during the current call; streams
tasks = {}  # number → the task of the event loop that answers the call; event_loop
awaited = None  # (number, value) with which the event loop must start, or (0, None) to start it idle; threads
part = None  # function that returns a part of the worker, which it loads at its first use; parts
loop = None  # the module event_loop while its loop runs; event_loop


# Frames


def fill():
    """Reads the available input, or waits for some. Returns False at the end of the input."""
    global data, offset
    chunk = read(source, 65536)
    if offset >= len(data):
        data, offset = chunk, 0
    else:
        if offset or type(data) is bytes:
            data, offset = bytearray(data[offset:]), 0
        data += chunk  # in amortized constant time, even for a large frame
    return bool(chunk)


def frame():
    """Returns the next frame from the read input as (type, call, body), or None if there is no whole frame."""
    global offset
    start = offset + 9
    head = from_bytes(data[offset:start], "little")
    end = start + (head & 0xFFFFFFFF)
    if len(data) < end:  # also if there is less than a header
        if end - start > LARGEST:
            sys.exit("pyplug: impossible length in the frame header " + data[offset:start].hex())
        return None
    kind = data[offset + 4]
    offset = end
    return kind, head >> 40, data[start:end]


def receive():
    """Waits for a frame. Returns None at the end of the input."""
    found = frame() if offset < len(data) else None
    while found is None and fill():
        found = frame()
    return found


def send(kind, number, body):
    if getpid() != PID:  # a forked child, in which a lock of another thread would never be released
        leave(0)
    way.write((len(body) | kind << 32 | number << 40).to_bytes(9, "little") + body)


def answer(kind, number, body):
    """Answers a call. It first sends the call's output and the list of files that the call imported."""
    flush()
    if len(sys.modules) != modules:
        part("start").report_files()
    send(kind, number, body)


def flush():
    for name in ("stdout", "stderr"):
        try:
            getattr(sys, name).flush()
        except BaseException:  # the user has closed or replaced it
            pass


def close_sink():
    """Closes the protocol's output. Nothing is sent afterward."""
    try:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, sink, False)
        os.close(null)
    except OSError:  # the user's code has closed it, or no descriptor is left
        pass


def leave(code):
    """Ends a child that user code forked, because a child must not answer the call."""
    flush()
    os._exit(code)


# Calls


class Refusal(Exception):
    """Ends a call for a reason found by the worker itself, which the method answer reports."""


def on_sigint(signum, where):
    (loop or way).interrupt(where)


def call(function, args=(), kwargs=NOTHING):
    """Calls user code. SIGINT may interrupt it."""
    global running
    # Way.interrupt clears the flag before it raises, so it raises only once. It may raise within
    # finally, which the callers handle, too.
    try:
        running = True
        if asked:
            raise KeyboardInterrupt
        return function(*args, **kwargs) if kwargs else function(*args)
    finally:
        running = False


def begin(number, body):
    """Returns the call in a frame as (hook, function, args, kwargs), or None if it has answered. A probe has no body."""
    if not body:
        return part("probe").begin(number)
    try:
        request = decode(body)
    except (ValueError, RecursionError) as error:  # a number is too long, or the body is nested too deeply
        why = "nested too deeply" if isinstance(error, RecursionError) else str(error)
        return part("errors").refuse(number, "arguments", why)
    name = request["hook"]
    function = find(number, name)
    if function is None:
        return None
    if "words" not in request:
        args, kwargs = request.get("args", ()), request.get("kwargs", NOTHING)
        if fits(expected[name], args, kwargs):
            return function, function, args, kwargs
    elif len(request) == 2 and {str}.issuperset(map(type, request["words"])) and fits(expected[name], request["words"], NOTHING):
        return function, function, request["words"], NOTHING  # all words are texts
    return function, part("arguments").run, (name, function, request, body), NOTHING


def fits(kinds, args, kwargs):
    """Reports whether arguments already have the annotated types."""
    if kinds is None or args and kwargs:  # pyplug does not send args and kwargs together
        return not converts
    for name, value in zip(kinds, args) if args else kwargs.items():
        kind = kinds.get(name, NOTHING)  # an unknown name may be from_ without its underscore
        if kind is not None and (type(value) is not kind or kind is float and value - value != 0):
            return False
    return True


def plain_kinds(function, skip=0):
    """Returns the type of each parameter by name, where None means any type. Returns None if converters must decide."""
    if not converts or type(function) is not FUNCTION or not {"__wrapped__", "__signature__"}.isdisjoint(function.__dict__):
        return None
    code, defaults = function.__code__, function.__defaults__ or ()
    if code.co_posonlyargcount or code.co_flags & VARARGS:  # some parameters accept only positions
        return None
    named = code.co_varnames[skip : code.co_argcount + code.co_kwonlyargcount]
    try:
        notes = dict(function.__annotations__ or NOTHING)
        notes.pop("return", None)
    except Exception:  # Python 3.14 evaluates annotations when they are read
        return None
    values = dict(zip(code.co_varnames[code.co_argcount - len(defaults) :], defaults))
    values.update(function.__kwdefaults__ or NOTHING)
    kinds = dict.fromkeys(named)
    for name in named:
        default = values.get(name)
        if type(default) not in PLAIN:  # the default may be a description of the parameter
            return None
        if name in notes or default is not None:
            note = notes.pop(name, type(default))
            if type(note) not in (str, type) or note not in KINDS or note in function.__globals__:
                return None
            kinds[name] = KINDS[note]
    return None if notes else kinds  # the remaining notes belong to *args or **kwargs


def find(number, name):
    """Returns the hook with a name. If there is none, it answers with an error and returns None."""
    function = namespace.get(name)
    if function is None or known.get(name) is not function:
        plain = type(function) is FUNCTION and function.__globals__ is namespace and name[:1] != "_"
        if not plain or "__all__" in namespace:
            return part("hooks").find(number, name)
        known[name], expected[name] = function, plain_kinds(function)
    return function


def finish(number, value):
    if type(value) in PLAIN:
        try:
            body = encode(value)
        except BaseException:
            body = None
        if body is not None and len(body) <= LARGEST:
            return answer(RESULT, number, body)
    part("values").finish(number, value)


def start_task(number, value):
    """Passes a call to the event loop, which awaits the value and answers with the result. serve starts the loop."""
    global awaited
    if loop is not None:
        loop.start_task(number, value)
    else:
        awaited = number, value


class Way:
    """Runs one call after the other, in the main thread. The other ways derive from it."""

    failed = False  # the last call was answered with an error; errors

    def write(self, left):
        """Writes a frame. SIGINT cannot interrupt it, because no user code runs. The handler of another signal can."""
        global sink
        try:
            while left:
                left = left[write(sink, left) :]
        except OSError as error:
            if isinstance(error, BrokenPipeError) or os.name == "nt" and error.errno == 22:  # EINVAL
                sink = os.open(os.devnull, os.O_WRONLY)  # pyplug is gone; the end of the input will follow
                return
            try:  # user code has closed it; exit, because the caller must not wait for the answer
                os.write(2, ("pyplug: the plugin closed the worker's output: %s\n" % error).encode())
            finally:
                os._exit(1)
        except BaseException:  # from a signal handler of the user; perhaps only a part of the frame is written
            close_sink()
            raise

    def invoke(self, number, body):
        """Runs the hook that a frame calls, and answers."""
        global asked
        asked = self.failed = False
        begun = begin(number, body)
        if begun is not None:
            hook, function, args, kwargs = begun
            self.run(number, hook, function, args, kwargs)

    def run(self, number, hook, function, args, kwargs):
        """Calls function for a hook, and answers with the result."""
        try:
            value = call(function, args, kwargs)
        except BaseException as error:
            return part("errors").answer(number, error, (function, args, kwargs))
        finish(number, value)

    def ahead(self, number, body, unless_failed):
        """Switches to the pipelined way, and lets it run a hook whose call was sent ahead."""
        self.hand_back(0)
        way.ahead(number, body, unless_failed)

    def hand_back(self, number):
        """Switches to the pipelined way, in which calls wait in the worker."""
        global way
        before, way = way, part("pipeline").Way()
        way.failed = before.failed

    def cancel(self, number):
        """Ignores a cancel, because SIGINT ends the running call, and no other call waits."""

    def interrupt(self, where):
        """Interrupts user code on SIGINT, at most once per call. It never interrupts code of the worker."""
        global running, asked
        asked = True
        if running:
            running = False
            raise KeyboardInterrupt

    def end(self):
        """Does nothing. Other ways override it to prepare the end of the worker."""


way = Way()  # the current way; start


# Serving


def handle(kind, number, body):
    """Handles a frame. Returns False for a quit frame."""
    try:
        if kind == CALL or kind == PROBE:
            way.invoke(number, body)
        elif kind == AHEAD or kind == UNLESS:
            way.ahead(number, body, kind == UNLESS)
        elif kind == CANCEL:
            if loop is None or not loop.cancel(number):
                way.cancel(number)
        elif kind == BACK:
            way.hand_back(number)
        elif kind == CREDIT:
            if number in streams:  # otherwise the stream has ended
                streams[number].grant(from_bytes(body, "little"))
        elif kind == DESCRIBE:
            part("describe").answer(number, body)
        elif kind != QUIT:
            sys.exit("pyplug: unknown frame type %d" % kind)
    except (ImportError, OSError) as error:  # from a module that a part imports
        part("errors").bare(number, error)
    return kind != QUIT


def serve():
    """Handles frames until the input ends, or until a quit frame."""
    global awaited
    while True:
        while awaited is None:
            found = backlog.pop(0) if backlog else receive()
            if found is None or not handle(found[0], found[1], found[2]):
                return
        begun, awaited = awaited, None
        try:
            event_loop = part("event_loop")
        except (ImportError, OSError) as error:
            part("errors").bare(begun[0], error)
            continue
        if event_loop.serve(*begun):
            return


def main():
    """Runs the worker. Python exits as usual after that, and SIGINT has no effect."""
    try:
        if part("start").start():
            serve()
            way.end()
    finally:
        part("start").let_go()
