"""How the worker starts: it moves the protocol away, says hello, loads the user's file.

Loaded by every start, and imports nothing that takes time.
"""

import _signal
import faulthandler
import os
import sys
from _frozen_importlib import _load
from _frozen_importlib_external import (
    FileFinder,
    SourceFileLoader,
    _get_supported_file_loaders,
    spec_from_file_location,
)
from time import time

import _pyplug_worker as core

HELLO, READY, LOAD = b"HYL"

stacks = 0  # the signal that shows them
trouble = 2  # where faulthandler writes
below = ""  # the directory, with a separator, that the user's file and what it imports are below


def start():
    """Says hello, then loads the file as the first frame asks; False when the worker is to end."""
    global stacks
    _signal.signal(_signal.SIGINT, core.interrupt)  # it may have been inherited as ignored
    plugin, stacks = sys.argv[2], int(sys.argv[3])
    sys.argv = [plugin]
    take_descriptors()
    greet()
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(encoding="utf-8", errors="backslashreplace", line_buffering=True)

    found = core.receive()
    if found is None:
        return False
    kind, number, body = found
    if kind != LOAD:
        sys.exit("pyplug: the first frame is of type %d, want load" % kind)
    make_codec(False)
    wanted = core.decode(body)
    core.nan, core.probe_name = wanted.get("nan", "error"), wanted.get("probe", "")
    if core.nan == "literal":
        make_codec(True)
    preload = wanted.get("preload")
    if preload:
        core.part("zygote").prepare()

    try:
        core.plugin, core.plugin_file, module = core.call(load, (plugin,))
        core.namespace = namespace_of(module)
    except BaseException as error:
        _signal.signal(_signal.SIGINT, core.interrupt)  # nothing of the user's disturbs what follows
        core.part("errors").unloadable(error)
        return False
    if _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:  # else the user's own stays
        _signal.signal(_signal.SIGINT, core.interrupt)
    calls = core.part(wanted["calls"]) if "calls" in wanted else None
    ready = {"module": core.plugin}
    if preload:
        zygote = core.part("zygote")
        why = zygote.settle(preload == "force")
        if why:
            ready["exec"] = why
        else:
            zygote.serve(READY, core.encode(dict(ready, zygote=True)))  # returns in each worker
    if calls is not None:
        calls.begin()
    core.send(READY, 0, core.encode(ready))
    return True


def greet():
    """Says hello."""
    version = "%d.%d.%d" % sys.version_info[:3]
    hello = '{"wire":1,"python":"%s","implementation":"%s","pid":%d}'
    core.send(HELLO, 0, (hello % (version, sys.implementation.name, core.PID)).encode())


def take_descriptors():
    """Moves the protocol off 0 and 1, so that nothing a plugin does can touch it.

    Prints, C code and child processes then write where standard error goes,
    and whoever reads standard input finds its end.
    """
    global trouble
    core.source, core.sink, trouble = (move(low, 200 + low) for low in (0, 1, 2))
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    os.dup2(2, 1)
    faulthandler.enable(trouble)
    if stacks:
        faulthandler.register(stacks, trouble, all_threads=True, chain=False)


def move(descriptor, high):
    """Copies a descriptor to a number that nobody else closes or counts on."""
    try:
        return os.dup2(descriptor, high, False)
    except OSError:  # so many are not allowed
        return os.dup(descriptor)


def make_codec(literal):
    """Makes core.encode and core.decode, from the C code under the json package, whose import takes long."""
    try:
        from _json import encode_basestring, make_encoder, make_scanner

        chunks = make_encoder(None, convert, encode_basestring, None, ":", ",", False, False, literal)
        scan = make_scanner(Rules)
    except (ImportError, TypeError):  # another Python than CPython
        import json

        pair = (",", ":")
        chunks = json.JSONEncoder(
            ensure_ascii=False, check_circular=False, allow_nan=literal, separators=pair, default=convert
        ).iterencode
        scan = json.JSONDecoder(strict=False).scan_once

    def encode(value):
        text = "".join(chunks(value, 0))
        try:
            return text.encode()
        except UnicodeEncodeError:  # lone surrogates: JSON has escapes for them
            return text.encode("utf-8", "backslashreplace")

    def decode(body):
        try:
            return scan(body.decode(), 0)[0]
        except (StopIteration, SystemError, ValueError) as error:
            if type(error) is ValueError:  # JSON, but a number of more digits than Python takes
                return without_limit(scan, body.decode(), 0)[0]
            sys.exit("pyplug: a frame's body is not JSON: %r" % bytes(body[:100]))

    core.encode, core.decode = encode, decode


def without_limit(function, *args):
    """Runs a function of ours while integers may have any number of digits as text."""
    if not hasattr(sys, "set_int_max_str_digits"):
        return function(*args)
    limit = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(0)
    try:
        return function(*args)
    finally:
        sys.set_int_max_str_digits(limit)


class Rules:
    """How the decoder reads, in its own terms."""

    strict = False
    object_hook = object_pairs_hook = None
    parse_int, parse_float, parse_constant = int, float, float


def convert(value):
    """Makes something that JSON has of a value that it has not."""
    return core.part("values").convert(value)


class Loader(SourceFileLoader):
    """Loads the user's file, and what it imports from below its directory.

    Python compares times by the second, so the byte code of a file that may be
    edited again within this one is not kept.
    """

    def set_data(self, path, data, **keywords):
        if time() - os.stat(self.path).st_mtime > 2:
            super().set_data(path, data, **keywords)


def load_file(name, path):
    """Imports a file under a name; one that fails leaves nothing in sys.modules."""
    return _load(spec_from_file_location(name, path, loader=Loader(name, path)))


def watch(root):
    """Lets Loader load the Python files below a directory."""
    global below
    loaders = [
        (Loader if loader is SourceFileLoader else loader, endings)
        for loader, endings in _get_supported_file_loaders()
    ]
    finder = FileFinder.path_hook(*loaders)
    below = prefix = os.path.join(root, "")

    def find(path):
        if path != root and not path.startswith(prefix):
            raise ImportError
        return finder(path)

    sys.path_hooks.insert(0, find)
    for path in list(sys.path_importer_cache):
        if path == root or path.startswith(prefix):
            del sys.path_importer_cache[path]


def namespace_of(module):
    """What is looked up as hooks: usually what the file has defined."""
    names = getattr(module, "__dict__", core.NOTHING)
    return names if "__builtins__" in names else core.part("identity").Attributes(module)


def load(plugin):
    """Imports the user's file under its own name, its directory first on sys.path.

    Returns the name, the file, and what is in sys.modules under the name.
    """
    path = os.path.realpath(plugin)
    directory, file = os.path.split(path)
    name = file[:-3]
    if (
        not file.endswith(".py")
        or "." in name
        or name in sys.modules
        or name in getattr(sys, "stdlib_module_names", (name,))
        or os.path.exists(os.path.join(directory, "__init__.py"))
        or os.path.isdir(path)
    ):
        return core.part("identity").load(path)
    sys.path.insert(0, directory)
    watch(directory)
    return name, path, load_file(name, path)
