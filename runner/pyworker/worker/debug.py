"""Calls one hook in the terminal, for run --pdb. The debugger opens where an exception was raised.

../debug.go starts Python with this file instead of the worker's loop, so there are no frames and no descriptors for them.
"""

import asyncio
import difflib
import json
import os
import pdb
import sys
import traceback
from bdb import BdbQuit

import _pyplug_worker as core

CODES = {"hook": 4, "arguments": 4}  # the exit code of a refusal, by its reason


def main(request, place, settings):
    """Loads the plugin, calls the hook of a request, and prints its result. settings has the values of flags."""
    core.converts, core.nan = settings["convert"], settings["nan"]
    hook = json.loads(request)["hook"]
    core.send = lambda kind, _, body: refused(hook, kind, body)
    sys.argv = [settings["plugin"]]
    if sys.path[:1] == [""]:  # added because of -c
        del sys.path[0]
    core.part("start").make_codec(core.nan == "literal")
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(encoding="utf-8", errors="backslashreplace", line_buffering=True)
    try:
        core.plugin, module = core.part("modules").load(*place)
        core.namespace = getattr(module, "__dict__", core.NOTHING)
        call(core.decode(request.encode()), request.encode())
    except core.Refusal as refusal:
        refusal.answer(1)
    except Over:
        raise
    except BdbQuit:  # the user has left a breakpoint
        sys.exit(1)
    except BaseException as error:
        if isinstance(error, SystemExit) and core.part("errors").is_success(error):
            return
        examine(error)


def call(request, body):
    """Calls a hook. A stream is printed item by item."""
    name = request["hook"]
    function = core.find(1, name)
    value = core.part("arguments").run(name, function, request, body)
    values = core.part("values")
    value = values.plain(value)
    if hasattr(type(value), "__aiter__") or values.is_awaitable(value):
        asyncio.run(settle(value, values))
    elif type(value) is values.GENERATOR:
        for item in value:
            show(item, values)
    else:
        show(value, values)


async def settle(value, values):
    """Awaits the result of a hook, and prints it."""
    while values.is_awaitable(value):
        value = values.plain(await value)
    if not hasattr(type(value), "__aiter__"):
        return show(value, values)
    async for item in value:
        show(item, values)


def show(value, values):
    """Prints a value: as JSON on a line, or the bytes as they are."""
    body = values.body_of(value)
    sys.stdout.flush()
    os.write(1, bytes(body) if isinstance(value, values.BINARY) else body + b"\n")


def refused(hook, kind, body):
    """Prints an error that would be the answer to a call, and ends Python."""
    if kind != core.ERROR:
        return
    why = json.loads(bytes(body))
    hooks = why.get("hooks", ())
    typed = hook if hooks else why.get("unknown") or why.get("near", "")
    near = difflib.get_close_matches(typed, why.get("choices") or hooks, 1)
    text = why["message"]
    if why.get("ends"):
        text += " %s(%s)" % (hook, ", ".join(one["name"] for one in why["signature"]["params"]))
    elif hooks and not near:
        text += "; the hooks are " + ", ".join(hooks)
    print("error: " + text, file=sys.stderr)
    for name in near:
        print("\nhint: did you mean %s?" % (core.part("suggest").option(name) if why.get("dashed") else name), file=sys.stderr)
    raise Over(CODES.get(why["reason"], 1))


class Over(SystemExit):
    """Ends Python without the debugger."""


def examine(error):
    """Prints an exception, and opens the debugger in the frame that raised it. Afterwards Python ends with exit code 1."""
    trace = core.part("errors").below_own(error.__traceback__)
    traceback.print_exception(type(error), error, trace)
    if trace is not None:
        pdb.post_mortem(trace)
    sys.exit(1)
