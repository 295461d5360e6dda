"""One hook in detail: the choices of its parameters, the classes with fields among them, and example arguments."""

import sys

import _pyplug_worker as core

describe = core.part("describe")
MOST = 100  # objects with fields that are described


def add(info, plan):
    """Adds to a hook's description what a list of hooks leaves out."""
    seen = {}
    for param, one in zip(info["params"], plan.params):
        if one.promise.choices:
            param["choices"] = one.promise.choices
        collect(one.promise, seen)
    info["template"] = template(plan.params)
    if seen:
        info["messages"] = list(seen.values())


def collect(take, seen):
    """Adds to seen the objects with fields that a converter takes, and those in them: converter → description."""
    for inner in take.parts:
        collect(inner, seen)
    found = take.fields
    if not found or take in seen or len(seen) > MOST:
        return
    seen[take] = {"name": take.text, "fields": [field(name, take.field_text(name), *one) for name, one in found.items()]}
    for one, *_ in found.values():
        collect(one, seen)


def field(name, text, take, required, *_):
    info = {"name": name, "required": required, "kind": "name"}
    if text:
        info["type"] = text
    if take.choices:
        info["choices"] = take.choices
    return info


def template(params):
    """Example arguments: an object of all parameters, or an array if one cannot be given by name."""
    by_position = any(one.kind == "position" for one in params)
    left_out = ("positions", "names", "name" if by_position else None)
    values = {}
    for one in params:
        default = describe.given(one.default)
        if one.kind not in left_out:
            values[one.name] = one.promise.example() if default is describe.EMPTY else as_json(default)
    return list(values.values()) if by_position else values


def as_json(value):
    """A default as JSON has it; None for what it cannot represent."""
    if "enum" in sys.modules and isinstance(value, sys.modules["enum"].Enum) and not core.part("shapes").is_json(value.value):
        return value.name
    try:
        return core.decode(core.part("values").encode(value))
    except Exception:
        return None
