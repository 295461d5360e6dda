"""One hook in detail: the choices of its parameters, the classes with fields among them, and example arguments."""

import sys

import _pyplug_worker as core

describe, annotations, arguments = core.part("describe"), core.part("annotations"), core.part("arguments")
convert = core.part("convert")
DEEPEST = 8  # levels of nested examples
MOST = 100  # objects with fields that are described


def add(info, function):
    """Adds to a hook's description what a list of hooks leaves out."""
    params, seen = arguments.Plan(function).params, {}
    for param, one in zip(info["params"], params):
        found = choices(one.promise)
        if found:
            param["choices"] = found
        collect(one.promise, seen)
    info["template"] = template(params)
    if seen:
        info["messages"] = list(seen.values())


def collect(take, seen):
    """Adds to seen the objects with fields that a converter takes, and those in them: converter → description."""
    for inner in take.parts:
        collect(inner, seen)
    found = fields(take)
    if not found or take in seen or len(seen) > MOST:
        return
    seen[take] = {"name": take.text, "fields": [field(name, *one) for name, one in found.items()]}
    for _, one, _ in found.values():
        collect(one, seen)


def field(name, text, take, required):
    info = {"name": name, "required": required, "kind": "name"}
    if text:
        info["type"] = text
    if choices(take):
        info["choices"] = choices(take)
    return info


def fields(take):
    """The fields of an object that a converter takes: name → (type, converter, whether it is required)."""
    if hasattr(take, "fields"):
        return {name: (shown(one), one, required) for name, (one, required, _, _) in take.fields.items()}
    found = {}
    if hasattr(getattr(take, "kind", None), "model_fields"):  # pydantic
        names = core.part("scopes").Scope(core.part("scopes").module(take.kind))
        for name, one in take.kind.model_fields.items():
            note = one.annotation
            promise = arguments.Parameter(name, "name", describe.EMPTY, note, names).promise
            found[name] = describe.type_text(note), promise, one.is_required()
    return found


def shown(take):
    """The type that a converter takes, as a signature has it."""
    return " or ".join(one.text for one in getattr(take, "members", [take]))


def template(params):
    """Example arguments: an object of all parameters, or an array if one cannot be given by name."""
    by_position = any(one.kind == "position" for one in params)
    left_out = ("positions", "names", "name" if by_position else None)
    values = {}
    for one in params:
        default = describe.given(one.raw[0])
        if one.kind not in left_out:
            values[one.name] = example(one.promise) if default is describe.EMPTY else as_json(default)
    return list(values.values()) if by_position else values


def as_json(value):
    """A default, or the value of a choice, as JSON has it; None for what it cannot represent."""
    if "enum" in sys.modules and isinstance(value, sys.modules["enum"].Enum) and not is_plain(value.value):
        return value.name
    try:
        return core.decode(core.part("values").encode(value))
    except Exception:
        return None


def json_word(parameter):
    """A word that gives a parameter as JSON, if that wants an object or a list; else an empty text."""
    found = example(parameter.take)
    name = "" if parameter.kind in ("position", "positions") else parameter.name
    return name + ":=" + convert.shown(found) if type(found) in (list, dict) else ""


def choices(take):
    """The values that a converter takes, if they are few and named one by one; else an empty list."""
    if isinstance(take, convert.Union):
        found = [choices(member) for member in members(take)]
        return [value for some in found for value in some] if all(found) else []
    return [as_json(found) for _, found in getattr(take, "values", ())]


def is_plain(value):
    return isinstance(value, (str, int, float, bool, type(None)))


def members(union):
    return [member for member in union.members if member is not annotations.NULL]


def example(take, depth=0):
    """A value that a converter takes, as JSON has it."""
    found = choices(take)
    if found or depth > DEEPEST:
        return found[0] if found else None

    def inner(one):
        return example(one, depth + 1)

    if isinstance(take, convert.Union):
        return inner(members(take)[0]) if members(take) else None
    if getattr(take, "inner", None) is not None:
        return inner(take.inner)
    if isinstance(take, convert.Items):
        return [] if isinstance(take.item, convert.Anything) else [inner(take.item)]
    if isinstance(take, convert.Row):
        return [inner(one) for one in take.items]
    if isinstance(take, convert.Table):
        return {} if isinstance(take.key, convert.Anything) else {str(inner(take.key)): inner(take.item)}
    if hasattr(take, "fields") or fields(take):
        return {name: inner(one) for name, (_, one, required) in fields(take).items() if required}
    return take.sample
