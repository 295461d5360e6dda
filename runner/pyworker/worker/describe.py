"""Reads the signatures of hooks. For plain functions it does not use inspect, whose import takes as long as the worker's start."""

import _pyplug_worker as core

VARARGS, VARKEYWORDS = 0x04, 0x08
GENERATOR, COROUTINE, ITERABLE_COROUTINE, ASYNC_GENERATOR = 0x20, 0x80, 0x100, 0x200
FUNCTION = core.FUNCTION
EMPTY, LEFT_OUT = object(), object()  # the defaults of a required parameter, and of an optional one that has no default value
DEFAULT, TYPE = 60, 200  # the maximum number of characters of a default and of a type
MISSING = ("ellipsis", "PydanticUndefinedType", "UndefinedType", "_MISSING_TYPE")  # types of objects that mean "no default"

hooks = core.part("hooks")
METHOD = hooks.METHOD


def answer(number, body):
    """Answers with the description of all hooks, or of one in detail."""
    query = core.decode(body)
    name, with_input = query["hook"], query["input"]
    if name and core.find(number, name) is None:
        return
    try:
        functions, notes = ({name: hooks.look_up(name)[0]}, []) if name else hooks.listing()
        found, arguments = [], core.part("arguments")
        for one, function in functions.items():
            plan = arguments.plan_of(one, function)
            info = describe(one, function, plan)
            if any("unresolved" in param for param in info["params"]):
                del arguments.plans[one]  # the missing name may be defined by the time of a call
            doc = documentation(function)
            if doc and (name or with_input):
                info["documentation"] = doc
            if name:
                core.part("explain").add(info, plan)
            if with_input:
                core.part("json_schema").add(info, plan)
            found.append(info)
        body = core.encode({"hooks": found, **({"notes": notes} if notes else {})})
    except BaseException as error:  # reading an annotation or a __signature__ may run code
        return core.part("errors").answer(number, error, canceled=False, done=None)
    core.send(core.RESULT, number, body)


def describe(name, function, plan):
    """Describes one hook. It omits unknown keys."""
    flags, info = flags_of(function), {"name": name, **plan.described()}
    doc = documentation(function).strip().partition("\n")[0].strip()
    if doc:
        info["doc"] = doc
    if flags & (COROUTINE | ITERABLE_COROUTINE | ASYNC_GENERATOR):
        info["async"] = True
    if flags & (GENERATOR | ASYNC_GENERATOR) and not flags & ITERABLE_COROUTINE:
        info["streams"] = "out"
    return info


def documentation(function):
    """Returns the documentation of a function without the indentation of the source."""
    doc = getattr(function, "__doc__", None)
    if doc == getattr(type(function), "__doc__", None):  # inherited from the type, as for a partial
        return documentation(function.func) if hasattr(function, "func") else ""
    return cleaned(doc) if isinstance(doc, str) else ""


def cleaned(doc):
    """Returns the same text as inspect.cleandoc, without the slow import of that module."""
    first, *others = doc.expandtabs().split("\n")
    indent = min((len(line) - len(line.lstrip()) for line in others if line.strip()), default=0)
    return "\n".join([first.lstrip()] + [line[indent:] for line in others]).strip("\n")


def layers(function):
    """Yields a function, and the functions that it wraps."""
    for _ in range(100):
        function = hooks.underlying(function)
        yield function
        function = getattr(function, "__wrapped__", None) or getattr(function, "func", None)
        if not callable(function):
            break


def flags_of(function):
    """Returns the code flags of a function and of all functions that it wraps."""
    flags = 0
    for one in layers(function):
        code = getattr(one, "__code__", None) or getattr(getattr(type(one), "__call__", None), "__code__", None)
        flags |= getattr(code, "co_flags", 0)
    return flags


def signature(function):
    """Returns the hook's parameters, each as (name, kind, default, annotation), and the annotation of its result."""
    params, returns = declared(function)
    names = names_of(function)
    if core.converts and (names.bound or params and params[-1][1] == "names" and params[-1][3] is not EMPTY):
        return core.part("annotations").applied(params, returns, names)
    return params, returns


def declared(function):
    """Returns the same as signature, with annotations as in the source."""
    plain = hooks.underlying(function)
    skip = plain is not function
    plain = unwrapped(plain)
    if type(plain) is not FUNCTION or "__signature__" in plain.__dict__ or skip > plain.__code__.co_argcount:
        return inspected(function)
    code, count = plain.__code__, plain.__code__.co_argcount
    named, last = code.co_varnames, count + code.co_kwonlyargcount
    found = [(name, "position") for name in named[skip : code.co_posonlyargcount]]
    found += [(name, "ordinary") for name in named[max(skip, code.co_posonlyargcount) : count]]
    if code.co_flags & VARARGS:
        found.append((named[last], "positions"))
    found += [(name, "name") for name in named[count:last]]
    if code.co_flags & VARKEYWORDS:
        found.append((named[last + bool(code.co_flags & VARARGS)], "names"))
    notes, defaults = annotations(plain), plain.__defaults__ or ()
    values = {**dict(zip(named[count - len(defaults) :], defaults)), **(plain.__kwdefaults__ or {})}
    params = [(name, kind, values.get(name, EMPTY), notes.get(name, EMPTY)) for name, kind in found]
    return params, notes.get("return", EMPTY)


def names_of(function):
    """Returns the scope of a function's annotations."""
    return core.part("scopes").of_function(function)


def unwrapped(function):
    """Returns the function that decorators wrap. A __signature__ ends the search, because it describes the wrapper."""
    for _ in range(100):
        if type(function) is not FUNCTION or "__signature__" in function.__dict__ or "__wrapped__" not in function.__dict__:
            break
        function = function.__wrapped__
    return function


def given(default):
    """Returns the value that a parameter has if it is not passed, or EMPTY if there is none.

    A default may be a description of the parameter, such as pydantic's Field(5), FastAPI's Query(...) and Depends(make),
    or typer.Option(False). The description then has the value, or a function that makes it.
    """
    if default is LEFT_OUT:
        return EMPTY
    if type(default) in core.PLAIN or isinstance(default, type):
        return default
    try:
        if hasattr(default, "dependency") or getattr(default, "prompt", False):  # typer asks for the value at a terminal
            return EMPTY
        make, found = default.default_factory, default.default
    except Exception:  # default is not a description
        return default
    if callable(make):
        try:
            return make()
        except Exception:  # a factory of pydantic may need the other fields
            return EMPTY
    return EMPTY if type(found).__name__ in MISSING else found


def needed(function):
    """Returns the names of the required parameters of a function or of a class's constructor."""
    if isinstance(function, type) and type(function.__init__) is FUNCTION:
        function = METHOD(function.__init__, function)
    params = signature(function)[0]
    return [name for name, kind, default, _ in params if is_required(kind, default, given(default))]


def is_required(kind, default, value):
    """Reports whether a parameter is required. value comes from given."""
    return value is EMPTY and default is not LEFT_OUT and kind not in ("positions", "names")


def inspected(function):
    """Returns the same as signature, for an object that is not a plain function."""
    import inspect

    try:
        found = inspect.signature(function)
    except (TypeError, ValueError):  # a C function without a signature
        return [("args", "positions", EMPTY, EMPTY), ("kwargs", "names", EMPTY, EMPTY)], EMPTY
    kinds = dict(zip(inspect._ParameterKind, ("position", "ordinary", "positions", "name", "names")))

    def given(value):
        return EMPTY if value is found.empty else value

    params = [
        (one.name, kinds[one.kind], given(one.default), given(one.annotation)) for one in found.parameters.values()
    ]
    return params, given(found.return_annotation)


def annotations(function):
    """Returns a function's annotations, or their texts if Python 3.14 cannot evaluate them."""
    try:
        return function.__annotations__ or {}
    except Exception:
        import annotationlib

        return annotationlib.get_annotations(function, format=annotationlib.Format.STRING)


def type_text(note):
    """Returns the approximate source text of an annotation."""
    if isinstance(note, str):
        text = note
    elif note is None:
        text = "None"
    elif isinstance(note, type) and not hasattr(note, "__origin__"):
        text = core.part("errors").type_name(note)
    elif hasattr(note, "__metadata__"):
        text = annotated(note)
    elif getattr(getattr(note, "__origin__", None), "_name", None) == "Unpack":  # Python 3.11 prints *<class 'T'>
        text = "Unpack[%s]" % type_text(note.__args__[0])
    else:
        text = safe_repr(note).replace("typing.", "")
        for one in getattr(note, "__parameters__", (note,)):
            if type(one).__name__ in ("TypeVar", "ParamSpec"):
                text = text.replace(safe_repr(one), one.__name__)  # the repr may be ~T
    return bounded(text, TYPE)


def annotated(note):
    """Returns the text of an Annotated. It omits metadata without a repr of its own."""
    inner = type_text(note.__origin__)
    shown = [safe_repr(one) for one in note.__metadata__ if type(one).__repr__ is not object.__repr__]
    return "Annotated[%s]" % ", ".join([inner, *shown]).replace("typing.", "") if shown else inner


def safe_repr(value):
    """Returns the repr of a value without addresses, which differ with each start."""
    try:
        text = str.__str__(repr(value))
    except BaseException:
        return "…"
    while " at 0x" in text:
        before, _, after = text.partition(" at 0x")
        text = before + after.lstrip("0123456789abcdefABCDEF")
    return text


def bounded(text, limit):
    return text if len(text) <= limit else text[: limit - 1] + "…"
