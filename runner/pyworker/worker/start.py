"""Starts the worker: hides the protocol's descriptors, says hello and loads the user's file. It imports nothing slow."""

import _signal
import faulthandler
import os
import sys

import _pyplug_worker as core

HELLO, READY, FILES, OVER = b"HYFX"
MAX_FILES = 2000  # the maximum number of reported files
INSTALLED = tuple(os.sep + name + os.sep for name in ("site-packages", "dist-packages"))

stacks = 0  # the signal that prints all stacks
printed, trouble = 1, 2  # the descriptors for the plugin's standard output, and for its standard error and faulthandler
below = ""  # the directory of the plugin's own files, with a separator; modules.py sets it
reported = []  # the plugin's own files that were last reported


def start():
    """Says hello, then loads the file. Returns False if the worker must end. ../launcher.go describes the arguments."""
    global stacks
    _signal.signal(_signal.SIGINT, core.on_sigint)  # the worker may have inherited it as ignored
    descriptors, _, _, plugin, *place, stacks, core.nan, core.probe_name, calls, preload, annotations = sys.argv[1:]
    core.converts = annotations != "off"
    stacks = int(stacks)
    core.probe_name = os.fsencode(core.probe_name).decode("utf-8", "replace")  # independent of the locale
    sys.argv = [plugin]
    if sys.path[:1] == [""]:  # added because of -c
        del sys.path[0]
    source, sink, stdout, control, event = map(int, descriptors.split())
    take_descriptors(source, sink, stdout)
    make_codec(core.nan == "literal")
    greet()
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(encoding="utf-8", errors="backslashreplace", line_buffering=True)
    if preload:
        core.part("zygote").prepare(control)

    try:
        core.plugin, module = core.call(core.part("modules").load, place)
        core.namespace = getattr(module, "__dict__", core.NOTHING)  # the file may have replaced the module by another object
    except BaseException as error:
        _signal.signal(_signal.SIGINT, core.on_sigint)  # so that a handler of the user does not interfere
        core.part("errors").unloadable(error)
        return False
    if _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:  # a handler of the user stays
        _signal.signal(_signal.SIGINT, core.on_sigint)
    if calls:
        core.way = core.part(calls).Way()
    if event:
        core.part("windows").watch(event)
    reported[:] = own_files()
    ready = {"module": core.plugin, "files": reported}
    if preload:
        zygote = core.part("zygote")
        why = zygote.check(preload == "force")
        if why:
            ready["exec"] = why
        else:
            show_name(plugin + " (preload)")
            zygote.serve(READY, core.encode(dict(ready, zygote=True)))  # returns in each worker
    core.send(READY, 0, core.encode(ready))
    show_name(plugin)  # after ready, so that pyplug does not wait for it
    return True


def greet():
    hello = {"python": "%d.%d.%d" % sys.version_info[:3], "implementation": sys.implementation.name, "pid": core.PID}
    core.send(HELLO, 0, core.encode(hello))


def take_descriptors(source, sink, stdout):
    """Moves the protocol to descriptors that the user's children do not inherit. Sends the plugin's output to stdout."""
    global printed, trouble
    core.source, core.sink, printed, trouble = (move(low, 200 + at) for at, low in enumerate((source, sink, stdout, 2)))
    os.close(source)
    os.close(sink)
    faulthandler.enable(trouble)
    if stacks:
        faulthandler.register(stacks, trouble, all_threads=True, chain=False)


def move(descriptor, high):
    """Copies a descriptor to a number that other code is unlikely to close or use."""
    try:
        return os.dup2(descriptor, high, False)
    except OSError:  # the limit on descriptors is lower
        return os.dup(descriptor)


def show_name(plugin):
    """Replaces the command line of the process by the plugin's name, such as "pyplug: greeter.py", on Linux."""
    if sys.platform != "linux":
        return
    try:
        with open("/proc/self/cmdline", "rb") as file:
            line = file.read()
        if b';exec(pyplug["code"],pyplug)' not in line and not line.startswith(b"pyplug: "):
            return  # the user's code has changed it
        with open("/proc/self/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
        start, end = int(fields[45]), int(fields[46])  # arg_start and arg_end, fields 48 and 49
        name = "pyplug: " + os.path.basename(plugin)
        write_memory(start, os.fsencode(name)[: end - start - 1].ljust(end - start, b"\0"))
    except (OSError, ValueError, IndexError):  # /proc is missing, or cannot be accessed
        pass


def write_memory(address, data):
    """Writes to the memory of this process that others see as its command line or environment."""
    with open("/proc/self/mem", "r+b", 0) as memory:
        memory.seek(address)
        memory.write(data)


def make_codec(literal):
    """Makes core.encode and core.decode from the C code of the json package, without the slow import of json."""

    def convert(value):  # for a value that JSON cannot represent
        return core.part("values").convert(value)

    try:
        from _json import encode_basestring, make_encoder

        chunks = make_encoder(None, convert, encode_basestring, None, ":", ",", False, False, literal)
    except (ImportError, TypeError):  # not CPython
        import json

        how = {"ensure_ascii": False, "allow_nan": literal, "separators": (",", ":"), "default": convert}
        chunks = json.JSONEncoder(**how).iterencode
    scan = scanner()

    def encode(value):
        text = "".join(chunks(value, 0))
        try:
            return text.encode()
        except UnicodeEncodeError:  # lone surrogates, which JSON can escape
            return text.encode("utf-8", "backslashreplace")

    def decode(body):
        try:
            return scan(body.decode(), 0)[0]
        except (StopIteration, SystemError, ValueError) as error:
            if type(error) is ValueError:  # valid JSON, but a number has more digits than Python accepts
                return without_limit(scan, body.decode(), 0)[0]
            sys.exit("pyplug: a frame's body is not JSON: %r" % bytes(body[:100]))

    core.encode, core.decode = encode, decode


def scanner(parse_float=float):
    """Returns a function that decodes JSON and returns (value, end)."""
    rules = {"strict": False, "object_hook": None, "object_pairs_hook": None}
    rules.update(parse_int=int, parse_float=parse_float, parse_constant=float)
    try:
        from _json import make_scanner

        return make_scanner(type("Rules", (), rules))
    except (ImportError, TypeError):
        import json

        return json.JSONDecoder(strict=False, parse_float=parse_float).scan_once


def without_limit(function, *args):
    """Runs a function of the worker without the limit on the digits of integers."""
    if not hasattr(sys, "set_int_max_str_digits"):
        return function(*args)
    limit = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(0)
    try:
        return function(*args)
    finally:
        sys.set_int_max_str_digits(limit)


def own_files(more=()):
    """Lists the plugin's own files: the files of its modules, and the files in more. It omits installed packages."""
    core.modules = len(sys.modules)
    if not below:  # nothing was imported
        return []
    found = {core.plugin_file: None}
    prefixes = tuple(os.path.join(one, "") for one in {sys.prefix, sys.base_prefix})
    prefixes = tuple(one for one in prefixes if one.startswith(below))
    for path in [*module_files(), *more]:
        inside = path.startswith(below) and not path.startswith(prefixes)
        if inside and not any(part in path[len(below) - 1 :] for part in INSTALLED):
            found[path] = None
    return list(found)[:MAX_FILES]


def module_files():
    for module in list(sys.modules.values()):
        try:  # does not call __getattr__, which would load a lazy module
            path = object.__getattribute__(module, "__dict__").get("__file__")
        except AttributeError:
            continue
        if isinstance(path, str):
            yield path


def report_files():
    """Reports the plugin's own files if a call has imported more of them."""
    found = own_files()
    if found != reported:
        reported[:] = found
        core.send(FILES, 0, core.encode(found))


def let_go():
    """Reports that no answer will come, because Python may hang while it exits. Releases the user's objects."""
    # Python keeps signal handlers and fork hooks longer than modules. Objects that are reachable
    # from them would not be finalized, and their open files would not be flushed.
    core.namespace = core.NOTHING
    core.known.clear()
    if os.getpid() == core.PID:  # not in a child that the user's code forked
        core.send(OVER, 0, b"")
    core.close_sink()
