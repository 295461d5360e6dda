"""Describes exceptions for pyplug, without the traceback module, whose import takes longer than the worker's start."""

import os
import sys

import _pyplug_worker as core

FIRST, LAST = 10, 40  # the number of frames kept at the beginning and the end of a long traceback
DEEPEST = 20  # the maximum depth of causes and groups
WIDEST = 50  # the maximum number of members of a group
REPEATS, CYCLE = 3, 8  # the minimum number of repetitions that are folded, and the maximum number of frames in a cycle
SUMMARY = 200  # the maximum number of characters of a summary
LONGEST = 64 << 10  # the maximum number of characters of a message
# Path prefixes of the files of the worker and of the standard library, and of installed packages below it.
STANDARD = os.path.dirname(os.__file__) + os.sep
LIBRARY = core.OWN, STANDARD, "<frozen ", "<builtin>/frozen "  # the last is PyPy's
PACKAGES = STANDARD + "site-packages", STANDARD + "dist-packages"
# Read a type's module and name, even if its metaclass redefines these attributes.
MODULE, NAME = type.__dict__["__module__"].__get__, type.__dict__["__qualname__"].__get__


def answer(number, error, called=None, canceled=None, done=core.RESULT):
    """Answers a call with the exception that it raised.

    called is (function, args, kwargs). If Python rejected these arguments, the answer explains why. An exit with status
    0 is not an error: done is the type of the frame that then ends the call.
    """
    if os.getpid() != core.PID:
        core.leave(exit_code(error))
    if core.asked if canceled is None else canceled:
        refuse(number, "canceled", "interrupted", python=described(error))
    elif done and is_success(error):
        core.answer(done, number, b"null" if done == core.RESULT else b"")
    elif isinstance(error, core.Refusal):
        error.answer(number)
    elif called is not None and isinstance(error, TypeError) and below_own(error.__traceback__) is None:
        core.part("arguments").explained(error, *called).answer(number)
    else:
        missing = absent(error)
        refuse(number, "raised", python=described(error), missing=None if missing and is_there(missing) else missing)


def is_success(error):
    """Reports whether an exception ends a program with status 0."""
    code = SystemExit.code.__get__(error) if isinstance(error, SystemExit) else 1
    return code is None or type(code) in (int, bool) and not code


def unloadable(error):
    """Reports why the file could not be loaded, with the files whose change may fix that."""
    start, info, missing = core.part("start"), described(error), absent(error)
    files = start.own_files(files_of(info))
    if missing and start.below:
        path = start.below + missing.replace(".", os.sep)
        files += [path + end for end in (".py", os.sep + "__init__.py")]
    unfound = core.part("imports").unfound(error) if missing else []
    refuse(0, "load", python=info, files=files, missing=missing, unfound=unfound)


def absent(error):
    """Returns the name of the module that an import did not find, or None if it failed for another reason."""
    for _ in range(DEEPEST):
        if type(error) is ModuleNotFoundError and type(error.name) is str:
            return error.name
        error = (error.__cause__ or error.__context__) if isinstance(error, ImportError) else None
    return None


def is_there(module):
    """Reports whether Python finds a module. A finder may raise any exception."""
    try:
        from importlib.util import find_spec

        return find_spec(module) is not None
    except Exception as error:
        return not isinstance(error, ImportError)


def files_of(info):
    found = [frame["file"] for frame in info["frames"]]
    return found + files_of(info["cause"]) if "cause" in info else found


def refuse(number, reason, message="", **more):
    core.way.failed = True
    core.answer(core.ERROR, number, core.encode(dict(more, reason=reason, message=message)))


def bare(number, error):
    """Answers with only the type and text of an exception, which needs no other part and no traceback."""
    refuse(number, "raised", python={"type": NAME(type(error)), "message": as_text(error), "frames": []})


def described(error):
    """Describes an exception, even if its own attributes raise."""
    try:
        return raised(error)
    except BaseException:
        return {"type": NAME(type(error)), "message": "", "frames": frames(error.__traceback__)}


def raised(error, seen=None, depth=0):
    """Describes an exception with its causes and members. It describes each exception only once."""
    seen = set() if seen is None else seen
    seen.add(id(error))
    info = {"type": type_name(type(error)), "message": text_of(error), "frames": frames(error.__traceback__)}
    if isinstance(error, SyntaxError) and error.filename and error.lineno:
        info["message"] = as_text(error.msg)
        info["frames"].append(syntax_frame(error))
    cause = error.__cause__
    if cause is None and not error.__suppress_context__:
        cause = error.__context__
    if cause is not None and id(cause) not in seen and depth < DEEPEST:
        info["cause"] = raised(cause, seen, depth + 1)
    members = getattr(error, "exceptions", None)
    members = members[:WIDEST] if isinstance(members, (tuple, list)) and depth < DEEPEST else ()
    group = [raised(one, seen, depth + 1) for one in members if isinstance(one, BaseException) and id(one) not in seen]
    if group:
        info["group"] = group
    return info


def frames(trace):
    """Lists the user's frames of a traceback, the oldest first."""
    found = []
    while trace is not None:
        found.append((trace.tb_frame.f_code, trace.tb_lineno))
        trace = trace.tb_next
    return listed(found)


def listed(found):
    """Lists the user's frames among (code, line). It folds repeated frames, and omits the middle of a long list."""
    found = folded([(code, line or 0) for code, line in found if is_users(code)])
    return found if len(found) <= FIRST + LAST else found[:FIRST] + found[-LAST:]


def folded(found):
    """Describes frames, and folds recursions. The last frame of a cycle says how often the cycle is repeated."""
    kept, seen, at = [], {}, 0
    while at < len(found):
        code, line = found[at]
        size, more = at - seen.get((id(code), line), at), 0
        while 0 < size <= CYCLE and found[at + more * size : at + (more + 1) * size] == found[at - size : at]:
            more += 1
        if more < REPEATS:
            seen[id(code), line] = at
            kept.append({"file": code.co_filename, "line": line, "function": code.co_name})
            at += 1
        else:
            kept[-1].update({"repeated": more, "cycle": size} if size > 1 else {"repeated": more})
            at += more * size
            seen = {}
    return kept


def is_users(code):
    """Reports whether code belongs to the user or an installed package, not to the worker or the standard library."""
    return not code.co_filename.startswith(LIBRARY) or code.co_filename.startswith(PACKAGES)


def syntax_frame(error):
    info = {"file": as_text(error.filename), "line": error.lineno}
    if error.text:
        info["text"] = as_text(error.text).rstrip()
    if error.offset and error.offset > 0:
        info["column"] = error.offset
    return info


def type_name(kind):
    """Returns the name of a type, with its module unless it is a builtin or defined in the user's file."""
    try:
        module = MODULE(kind)
    except AttributeError:
        module = None
    if not isinstance(module, str) or module in ("builtins", core.plugin, "__main__"):
        return NAME(kind)
    return module + "." + NAME(kind)


def text_of(error):
    """Returns the message of an exception, with its notes."""
    if isinstance(error, SystemExit):
        text = "0" if error.code is None else as_text(error.code)
    else:
        text = as_text(error)
    notes = getattr(error, "__notes__", None)
    if isinstance(notes, (list, tuple)):
        text = "\n".join([text] + [as_text(note) for note in notes[:WIDEST]])
    return text if len(text) <= LONGEST else text[:LONGEST] + "…"


def as_text(value):
    """Returns str(value), or a substitute if that raises."""
    try:
        return str.__str__(str(value))
    except BaseException:
        return "<%s that cannot be printed>" % NAME(type(value))


def summary(error):
    """Returns an exception in one line, like the last line of a traceback, for use in another message."""
    name, text = type_name(type(error)), text_of(error)
    line = (name + ": " + text if text else name).partition("\n")[0]
    return line if len(line) <= SUMMARY else line[:SUMMARY] + "…"


def below_own(trace):
    """Returns a traceback without the worker's own frames at its beginning."""
    while trace is not None and trace.tb_frame.f_code.co_filename.startswith(core.OWN):
        trace = trace.tb_next
    return trace


def exit_code(error):
    """Returns the exit code of a forked child that ended with an exception. It prints the exception as Python does."""
    if not isinstance(error, SystemExit):
        error.__traceback__ = below_own(error.__traceback__)
        sys.excepthook(type(error), error, error.__traceback__)
        return 1
    if error.code is None or isinstance(error.code, int):
        return (error.code or 0) & 255
    sys.stderr.write(as_text(error.code) + "\n")
    return 1
