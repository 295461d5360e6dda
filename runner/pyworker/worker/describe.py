"""The signatures of hooks.

Loaded when they are asked for. Plain functions are read without the inspect
module, whose import takes as long as the worker's own start.
"""

import _pyplug_worker as core

VARARGS, VARKEYWORDS = 0x04, 0x08
GENERATOR, COROUTINE, ITERABLE_COROUTINE, ASYNC_GENERATOR = 0x20, 0x80, 0x100, 0x200
FUNCTION = core.FUNCTION
EMPTY = object()
DEFAULT, TYPE = 60, 200  # characters that are shown

hooks = core.part("hooks")
METHOD = hooks.METHOD


def answer(number, body):
    """Answers with the description of one hook, of all, or of one in detail."""
    name = core.decode(body)
    how = core.part("explain").explain if isinstance(name, list) else describe
    names = name if isinstance(name, list) else hooks.names() if name is None else [name]
    if name is not None and core.find(number, names[0]) is None:
        return
    try:
        body = core.encode({"hooks": [how(name, hooks.look_up(name)[0]) for name in names]})
    except BaseException as error:  # an annotation or a __signature__ that does something
        return core.part("errors").answer(number, error, canceled=False, done=None)
    core.send(core.RESULT, number, body)


def describe(name, function):
    """Describes one hook; what is not known is left out."""
    flags = flags_of(function)
    params, returns = parameters(function)
    info = {"name": name, "params": params}
    doc = first_line(function)
    if doc:
        info["doc"] = doc
    if flags & (COROUTINE | ITERABLE_COROUTINE | ASYNC_GENERATOR):
        info["async"] = True
    if flags & (GENERATOR | ASYNC_GENERATOR) and not flags & ITERABLE_COROUTINE:
        info["streams"] = "out"
    if returns:
        info["returns"] = returns
    return info


def first_line(function):
    return next((line.strip() for line in documentation(function).splitlines() if line.strip()), "")


def documentation(function):
    doc = getattr(function, "__doc__", None)
    if doc == getattr(type(function), "__doc__", None):
        doc = None  # that of partial, say
        inner = getattr(function, "func", None)
        if inner is not None:
            return documentation(inner)
    return doc if isinstance(doc, str) else ""


def flags_of(function):
    """The code's flags of a function and of all that it wraps."""
    flags = 0
    for _ in range(100):
        inner = getattr(function, "__func__", function)
        code = getattr(inner, "__code__", None)
        if code is None and type(inner) is not FUNCTION:
            called = getattr(type(inner), "__call__", None)
            code = getattr(called, "__code__", None)
        flags |= getattr(code, "co_flags", 0)
        function = getattr(inner, "__wrapped__", None) or getattr(inner, "func", None)
        if not callable(function):
            break
    return flags


def parameters(function):
    """Returns a hook's parameters, and the text of what it returns."""
    skip = 0
    plain = function
    if type(plain) is METHOD:
        plain, skip = plain.__func__, 1
    for _ in range(100):
        if type(plain) is not FUNCTION or "__signature__" in plain.__dict__ or "__wrapped__" not in plain.__dict__:
            break
        plain = plain.__wrapped__
    if type(plain) is not FUNCTION or "__signature__" in plain.__dict__:
        return inspected(function)
    code, count = plain.__code__, plain.__code__.co_argcount
    if skip > count:
        return inspected(function)
    notes = annotations(plain)
    named = code.co_varnames
    defaults = plain.__defaults__ or ()
    params = []
    for index in range(skip, count):
        at = index - (count - len(defaults))
        kind = "position" if index < code.co_posonlyargcount else "ordinary"
        params.append(param(named[index], kind, defaults[at] if at >= 0 else EMPTY, notes))
    last = count + code.co_kwonlyargcount
    if code.co_flags & VARARGS:
        params.append(param(named[last], "positions", EMPTY, notes))
    for name in named[count:last]:
        params.append(param(name, "name", (plain.__kwdefaults__ or {}).get(name, EMPTY), notes))
    if code.co_flags & VARKEYWORDS:
        params.append(param(named[last + bool(code.co_flags & VARARGS)], "names", EMPTY, notes))
    return params, type_text(notes["return"]) if "return" in notes else ""


def needs_argument(function):
    """Reports whether a function, or making an object of a class, needs an argument."""
    if isinstance(function, type) and type(function.__init__) is FUNCTION:
        function = METHOD(function.__init__, function)
    return any(param["required"] for param in parameters(function)[0])


def inspected(function):
    """Parameters of what is no plain function, as far as Python can tell them."""
    import inspect

    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # written in C, without one
        return [param("args", "positions", EMPTY, {}), param("kwargs", "names", EMPTY, {})], ""
    kinds = dict(zip(inspect._ParameterKind, ("position", "ordinary", "positions", "name", "names")))
    params = []
    for one in signature.parameters.values():
        notes = {} if one.annotation is one.empty else {one.name: one.annotation}
        params.append(param(one.name, kinds[one.kind], EMPTY if one.default is one.empty else one.default, notes))
    returns = signature.return_annotation
    return params, "" if returns is signature.empty else type_text(returns)


def param(name, kind, default, notes):
    info = {"name": name, "required": default is EMPTY and kind not in ("positions", "names"), "kind": kind}
    text = type_text(notes[name]) if name in notes else ""
    if not text and type(default) in (str, int, float, bool):
        text = type(default).__name__
    if text:
        info["type"] = text
    if default is not EMPTY:
        info["default"] = bounded(safe_repr(default), DEFAULT)
    return info


def annotations(function):
    """A function's annotations; as text where Python 3.14 cannot evaluate them."""
    try:
        return function.__annotations__ or {}
    except Exception:
        import annotationlib

        return annotationlib.get_annotations(function, format=annotationlib.Format.STRING)


def type_text(note):
    """An annotation as the source has it, more or less."""
    if isinstance(note, str):
        text = note
    elif note is None:
        text = "None"
    elif isinstance(note, type) and not hasattr(note, "__origin__"):
        text = core.part("errors").type_name(note)
    else:
        text = safe_repr(note).replace("typing.", "")
    return bounded(text, TYPE)


def safe_repr(value):
    try:
        return str.__str__(repr(value))
    except BaseException:
        return "…"


def bounded(text, limit):
    return text if len(text) <= limit else text[: limit - 1] + "…"
