"""One hook in detail: its whole documentation, the choices of its parameters, and example arguments.

Loaded when somebody asks for one hook.
"""

import enum
import inspect
import sys
import typing

import _pyplug_worker as core

describe, annotations = core.part("describe"), core.part("annotations")
DEEPEST = 8  # levels of nested examples
UNKNOWN = object()
SAMPLES = {
    "builtins.bool": True,
    "builtins.int": 1,
    "builtins.float": 1.5,
    "builtins.complex": UNKNOWN,
    "builtins.bytes": "dGV4dA==",
    "builtins.list": [],
    "builtins.tuple": [],
    "builtins.set": [],
    "builtins.frozenset": [],
    "builtins.dict": {},
    "builtins.NoneType": None,
    "datetime.date": "2026-01-31",
    "datetime.datetime": "2026-01-31T12:00:00",
    "datetime.time": "12:00:00",
    "datetime.timedelta": "PT1H",
    "decimal.Decimal": "1.50",
    "uuid.UUID": "123e4567-e89b-12d3-a456-426614174000",
}
TEXT = "text"  # the sample of a str, and of what is not known


def explain(name, function):
    """Describes one hook in detail."""
    info = describe.describe(name, function)
    doc = describe.documentation(function)
    if doc:
        info["documentation"] = inspect.cleandoc(doc)
    notes, defaults = evaluated(function)
    for param in info["params"]:
        found = choices(notes.get(param["name"]))
        if found:
            param["choices"] = found
    info["template"] = template(info["params"], notes, defaults)
    return info


def evaluated(function):
    """Returns the annotations of a hook as types, those that can be evaluated, and its defaults."""
    names, notes, defaults = describe.names_of(function), {}, {}
    for name, _, default, note in describe.signature(function)[0]:
        if note is not describe.EMPTY:
            try:
                while isinstance(note, str):
                    note = annotations.evaluated(note, names)
                notes[name] = note
                holder = type("Holder", (), {"__annotations__": {name: note}})
                notes.update(typing.get_type_hints(holder, names))  # which evaluates what is within
            except Exception:  # it names nothing
                pass
        if default is not describe.EMPTY:
            defaults[name] = default
    return notes, defaults


def template(params, notes, defaults):
    """Example arguments: an object of all parameters, or an array if one cannot be given by name."""
    by_position = any(param["kind"] == "position" for param in params)
    left_out = ("positions", "names", "name" if by_position else None)
    values = {}
    for param in params:
        name = param["name"]
        if param["kind"] not in left_out:
            values[name] = as_json(defaults[name]) if name in defaults else example(notes.get(name))
    return list(values.values()) if by_position else values


def as_json(value):
    """The value of a default as JSON has it; None for what it cannot represent."""
    try:
        return core.decode(core.part("values").encode(value))
    except Exception:
        return None


def choices(note):
    """The values that a type takes, if they are few and named one by one; else None."""
    origin = getattr(note, "__origin__", None)
    if origin is getattr(typing, "Literal", UNKNOWN):
        return [as_json(value) for value in note.__args__]
    if isinstance(note, type) and issubclass(note, enum.Enum):
        return [as_json(member) if is_plain(member.value) else member.name for member in note]
    if is_union(note):
        found = [choices(member) for member in members(note)]
        return [value for some in found for value in some] if all(found) else None
    return None


def is_plain(value):
    return isinstance(value, (str, int, float, bool, type(None)))


def is_union(note):
    origin = getattr(note, "__origin__", None)
    return origin is typing.Union or origin is annotations.Alias or type(note).__name__ == "UnionType"


def members(note):
    return [member for member in note.__args__ if member is not type(None)]


def example(note, depth=0):
    """A value that a type takes, as JSON has it."""
    found = choices(note)
    if found:
        return found[0]
    if note is None or depth > DEEPEST:
        return TEXT if note is None else None
    if is_union(note):
        return example(members(note)[0], depth + 1)
    if hasattr(note, "__metadata__"):  # Annotated
        return example(note.__origin__, depth + 1)
    if hasattr(note, "__supertype__"):  # NewType
        return example(note.__supertype__, depth + 1)
    origin = getattr(note, "__origin__", None) or note
    if not isinstance(origin, type):
        return TEXT
    arguments = [one for one in getattr(note, "__args__", ()) if one is not Ellipsis and not isinstance(one, typing.TypeVar)]
    return of_fields(origin, depth) or of_class(origin, arguments, depth)


def of_class(kind, arguments, depth):
    """An example of a class that has no fields."""
    known = sys.modules["collections.abc"] if "collections.abc" in sys.modules else __import__("_collections_abc")
    if arguments and issubclass(kind, tuple):
        return [example(one, depth + 1) for one in arguments]
    if arguments and issubclass(kind, known.Mapping):
        key = example(arguments[0], depth + 1)
        return {key if isinstance(key, str) else str(key): example(arguments[-1], depth + 1)}
    if arguments and issubclass(kind, known.Iterable):
        return [example(arguments[0], depth + 1)]
    for base in kind.__mro__:
        sample = SAMPLES.get("%s.%s" % (base.__module__, base.__qualname__), UNKNOWN)
        if sample is not UNKNOWN:
            return sample
    return TEXT


def of_fields(kind, depth):
    """An example of a class that lists its fields: those without a default; None if it lists none."""
    if hasattr(kind, "__dataclass_fields__"):
        missing = sys.modules["dataclasses"].MISSING
        fields = kind.__dataclass_fields__.values()
        names = [one.name for one in fields if one.init and one.default is missing and one.default_factory is missing]
    elif hasattr(kind, "model_fields"):  # pydantic
        names = [name for name, field in kind.model_fields.items() if field.is_required()]
    elif hasattr(kind, "_fields") and issubclass(kind, tuple):
        names = [name for name in kind._fields if name not in getattr(kind, "_field_defaults", ())]
    elif hasattr(kind, "__required_keys__"):
        names = sorted(kind.__required_keys__)
    else:
        return None
    try:
        notes = typing.get_type_hints(kind)
    except Exception:
        notes = {}
    return {name: example(notes.get(name), depth + 1) for name in names}
