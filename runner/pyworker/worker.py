"""The core of pyplug's worker, which calls the functions of one Python file.

It is installed as _pyplug_worker.py, and each part beside it, X.py, as
_pyplug_X.py. Python runs it as "-c BOOT DIRECTORY PLUGIN SIGNAL", where
DIRECTORY holds the installed files, PLUGIN is the absolute path of the user's
file, SIGNAL the number of a signal that shows all stacks, 0 for none, and BOOT
imports this module with its byte code cached, and leaves neither DIRECTORY nor
the '' of -c on sys.path:

    import sys;b=sys.dont_write_bytecode;sys.dont_write_bytecode=False;sys.path[:1]=[sys.argv[1]]+[p for p in sys.path[:1]if p];import _pyplug_worker;del sys.path[0];sys.dont_write_bytecode=b;_pyplug_worker.main()

This file parses on Python 2.7, so that an old Python can be told what is wrong.
It imports nothing that takes time: each start pays for it.
"""

import os
import sys

# The header below stands word for word in runner/wire/wire.go; a test holds
# the two equal.
#
# [protocol]
# A frame is
#
#     length   4 bytes, little endian: how many bytes the body has
#     type     1 byte, a letter
#     call     4 bytes, little endian: the call's number, 0 for the worker itself
#     body     JSON in UTF-8 unless said otherwise; lone surrogates are escaped
#
# to the worker
#
#     L load     {"nan": "error" | "null" | "literal", "probe": name, "calls": "ahead" | "threads", "preload": "auto" | "force"}, the first frame
#     C call     {"hook": name, "args": [...], "kwargs": {...}}, the last two may be absent
#     K cancel   no body; the call is answered all the same
#     W window   4 bytes, little endian: so many more bytes of items may come
#     D describe name of one hook, or null for all
#     P probe    no body
#     Q quit     no body; the worker ends as a Python program ends
#
# from the worker
#
#     H hello    {"wire": 1, "python": version, "implementation": name, "pid": number}
#     Y ready    {"module": name}, the answer to load; with preload "zygote": true, or "exec": why it is none
#     R result   the value; to describe {"hooks": [...]}, to probe {"degraded": reason} or {}
#     B bytes    the value was bytes: their base64 text
#     I item     one item of a stream
#     Z end      no body; the stream is over
#     E error    {"reason": word, "message": text, "python": {"type", "message", "frames", "cause", "group"}, ...}
#     O overlap  no body; from now on a call may begin before those before it are answered
#     T trace    {"frames": [...]}, where a cancelled call is that goes on; no answer, and one may have come
#
# A call is answered once: by R, B or E, or by I any number of times and then Z
# or E. Of each stream 262144 bytes of items may be under way, and more after W;
# one item may always be. The words of E, and what comes with them:
#
#     raised       the hook raised
#     load         the file could not be loaded
#     result       the value cannot be represented; "place" says where, such as "$.items[3]"
#     arguments    they do not fit the hook
#     hook         there is no such hook; "hooks" lists those there are, "why" may say more
#     canceled     the call was cancelled before it ended
#     old          this Python is older than the worker supports
# [/protocol]

if sys.version_info < (3, 8):
    import struct

    old = "%d.%d.%d" % sys.version_info[:3]
    old = ('{"reason":"old","message":"python %s","version":"%s"}' % (old, old)).encode("ascii")
    os.write(1, struct.pack("<IcI", len(old), b"E", 0) + old)
    sys.exit(0)

from _frozen_importlib import _load
from _frozen_importlib_external import spec_from_file_location
from os import getpid, read, write

CALL, CANCEL, CREDIT, DESCRIBE, PROBE, QUIT = b"CKWDPQ"
RESULT, BYTES, ITEM, END, ERROR = b"RBIZE"
LARGEST = 512 << 20  # of a frame's body; what claims more is no frame

HOME = os.path.dirname(__file__) + os.sep
PID = getpid()
FUNCTION = type(lambda: None)
# The types whose JSON the encoder writes by itself, at the top at least.
PLAIN = {str, int, float, bool, type(None), list, dict, tuple}
NOTHING = {}
from_bytes = int.from_bytes

source = sink = 0  # the protocol's descriptors
data, offset = b"", 0  # what was read, and how far it was used
backlog = []  # frames that a stream read while it waited for others
nan, probe_name = "error", ""  # as load said
plugin = plugin_file = None  # the user's module by name, and its file, when it is loaded
namespace = {}  # what it holds
encode = decode = None  # JSON; made by the start part
known = {}  # hooks that were found before
running = False  # the user's code runs, and SIGINT may interrupt it
asked = False  # SIGINT has come during the present call
awaited = None  # what the asyncio part is to start with


class Lost(Exception):
    """A part cannot be loaded: its argument says why."""


def part(name):
    """Returns a part of the worker, loaded at its first use."""
    name = "_pyplug_" + name
    if name not in sys.modules:
        keep, sys.dont_write_bytecode = sys.dont_write_bytecode, False
        try:
            load_part(name)
        except OSError as error:
            if not load_with_spare(name):
                raise Lost(error)
        finally:
            sys.dont_write_bytecode = keep
    return sys.modules[name]


def load_part(name):
    _load(spec_from_file_location(name, HOME + name + ".py"))


def load_with_spare(name):
    """Loads a part when user code has used up all descriptors: standard input lends its own."""
    try:
        if os.sysconf("SC_OPEN_MAX") < 1 or not os.path.samestat(os.fstat(0), os.stat(os.devnull)):
            return False
        os.close(0)
        try:
            load_part(name)
        finally:
            os.open(os.devnull, os.O_RDONLY)  # the lowest there is: 0
    except (OSError, AttributeError):  # Windows has no sysconf
        return False
    return True


def fill():
    """Reads what there is, waiting for some; False at the end of the input."""
    global data, offset
    try:
        chunk = read(source, 65536)
    except OSError as error:
        part("errors").cut_off(error)
    if offset >= len(data):
        data, offset = chunk, 0
    else:
        if offset or type(data) is bytes:
            data, offset = bytearray(data[offset:]), 0
        data += chunk  # amortised, however large the frame
    return bool(chunk)


def frame():
    """Takes (type, call, body) out of what was read; None without a whole frame."""
    global offset
    start = offset + 9
    head = from_bytes(data[offset:start], "little")
    end = start + (head & 0xFFFFFFFF)
    if len(data) < end:  # of less than a header, too
        if end - start > LARGEST:
            sys.exit("pyplug: impossible length in the frame header " + data[offset:start].hex())
        return None
    kind = data[offset + 4]
    offset = end
    return kind, head >> 40, data[start:end]


def receive():
    """Waits for a frame; None at the end of the input."""
    found = frame() if offset < len(data) else None
    while found is None and fill():
        found = frame()
    return found


def send(kind, number, body):
    """Writes a frame. SIGINT cannot break it: no user code is running."""
    global sink
    if getpid() != PID:
        leave(0)
    left = (len(body) | kind << 32 | number << 40).to_bytes(9, "little") + body
    try:
        written = write(sink, left)
        while written < len(left):
            left = left[written:]
            written = write(sink, left)
    except BrokenPipeError:  # pyplug is gone; the input's end will say so
        sink = os.open(os.devnull, os.O_WRONLY)
    except OSError as error:
        part("errors").cut_off(error)


def flush():
    """Shows what the user's code has printed without a newline."""
    try:
        sys.stdout.flush()
    except BaseException:  # closed, replaced or None: the user's business
        pass
    try:
        sys.stderr.flush()
    except BaseException:
        pass


def leave(code):
    """Ends a child that user code forked and let return: it must not speak here."""
    flush()
    os._exit(code)


def interrupt(signum, where):
    """SIGINT: interrupts the user's code, once in a call, and nothing else."""
    global running, asked
    asked = True
    if running:
        running = False
        raise KeyboardInterrupt


def call(function, args=(), kwargs=NOTHING):
    """Runs user code that SIGINT may interrupt."""
    global running
    # The handler clears the flag before it raises: what it raises within
    # finally is the last, and the callers catch that too.
    try:
        running = True
        if asked:
            raise KeyboardInterrupt
        return function(*args, **kwargs) if kwargs else function(*args)
    finally:
        running = False


def invoke(number, body):
    """Runs the hook that a call frame names, and answers."""
    global asked
    asked = False
    try:
        request = decode(body)
    except (ValueError, RecursionError) as error:  # too long a number, nested too deeply
        return part("errors").undecodable(number, error)
    function = find(number, request["hook"])
    if function is None:
        return
    try:
        value = call(function, request.get("args", ()), request.get("kwargs", NOTHING))
    except BaseException as error:
        return fail(number, error, function)
    finish(number, value)


def fail(number, error, function=None):
    """Answers with what was raised; without its frames when the part for that is lost."""
    try:
        part("errors").answer(number, error, function)
    except Lost:
        bare(number, error)


def bare(number, error):
    """Answers with an exception as far as the core can tell it."""
    kind = type(error).__name__
    try:
        text = "%s" % error
    except BaseException:
        text = ""
    message = kind + ": " + text if text else kind
    python = {"type": kind, "message": text, "frames": []}
    send(ERROR, number, encode({"reason": "raised", "message": message, "python": python}))


def find(number, name):
    """Returns the hook of a name; None when there is none, which is answered here."""
    function = namespace.get(name)
    if function is None or known.get(name) is not function:
        plain = type(function) is FUNCTION and function.__globals__ is namespace and name[:1] != "_"
        if not plain or "__all__" in namespace:
            return part("hooks").find(number, name)
        known[name] = function
    return function


def finish(number, value):
    """Answers with what a hook returned."""
    if type(value) not in PLAIN:
        return part("values").finish(number, value)
    try:
        body = encode(value)
    except BaseException:
        body = None
    if body is None or len(body) > LARGEST:
        return part("values").retry(number, value, body)
    flush()
    send(RESULT, number, body)


def stream(number, generator):
    """Answers with the items of a generator. The asyncio part replaces this."""
    part("streams").stream(number, generator)


def control(kind, number, body):
    """Cancels a call, or grants it more items. Without asyncio it is over by now."""


def handle(kind, number, body):
    """Does what a frame says; False when it says quit."""
    try:
        if kind == CALL:
            invoke(number, body)
        elif kind == CANCEL or kind == CREDIT:
            control(kind, number, body)
        elif kind == DESCRIBE:
            part("describe").answer(number, body)
        elif kind == PROBE:
            part("probe").answer(number)
        elif kind != QUIT:
            sys.exit("pyplug: unknown frame type %d" % kind)
    except Lost as lost:
        bare(number, lost.args[0])
    return kind != QUIT


def serve():
    """Answers frames until the input ends or says quit."""
    global awaited
    while True:
        while awaited is None:
            found = backlog.pop(0) if backlog else receive()
            if found is None or not handle(found[0], found[1], found[2]):
                return
        begun, awaited = awaited, None
        try:
            if part("aio").serve(*begun):
                return
        except Lost as lost:
            bare(begun[0], lost.args[0])


def main():
    """Runs the worker; Python then ends as it always does, and SIGINT cannot disturb it."""
    if part("start").start():
        serve()
