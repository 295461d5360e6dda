"""Describes one hook in detail: the choices of its parameters, their classes with fields, and example arguments."""

import sys

import _pyplug_worker as core

describe, nested = core.part("describe"), core.part("nested")
MAX_OBJECTS = 100  # the maximum number of described classes with fields


def add(info, plan):
    """Adds the details to a hook's description that a list of hooks omits."""
    seen = {}
    for param, one in zip(info["params"], plan.params):
        if one.promise.choices:
            param["choices"] = one.promise.choices
        if one.kind in ("ordinary", "name"):
            refer(param, one.take)
        collect(one.promise, seen)
    info["template"] = template(plan.params)
    if seen:
        info["messages"] = list(seen.values())


def collect(take, seen):
    """Adds the classes with fields of a converter, and those within them, to seen: converter → description."""
    for inner in take.parts:
        collect(inner, seen)
    found = take.fields
    if not found or take in seen or len(seen) > MAX_OBJECTS:
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
    refer(info, take)
    return info


def refer(info, take):
    """Adds the name of the class with fields that a converter takes, if there is one. Words can set these fields."""
    found = nested.object_of(take)
    if found is not None:
        info["message"] = found.text


def template(params):
    """Returns example arguments: an object of all parameters, or an array if one cannot be passed by name."""
    by_position = any(one.kind == "position" for one in params)
    left_out = ("positions", "names", "name" if by_position else None)
    values = {}
    for one in params:
        default = describe.given(one.default)
        if one.kind not in left_out:
            values[one.name] = one.promise.example() if default is describe.EMPTY else as_json(default)
    return list(values.values()) if by_position else values


def as_json(value):
    """Returns a default as JSON, or None if JSON cannot represent it."""
    if "enum" in sys.modules and isinstance(value, sys.modules["enum"].Enum) and not core.part("shapes").is_json(value.value):
        return value.name
    try:
        return core.decode(core.part("values").encode(value))
    except Exception:
        return None
