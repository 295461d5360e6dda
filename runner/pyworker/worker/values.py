"""Converts results that are not plain JSON, and reports the place of a value that cannot be represented.

It imports no type's module, because a value can only exist if the module of its type is imported.
"""

import sys
from _collections_abc import MappingView, Sequence, Set
from itertools import islice
from os import PathLike, fspath

import _pyplug_worker as core

GENERATOR = type(_ for _ in ())
ITERABLE_COROUTINE = 0x100  # the code flag of a generator that types.coroutine made awaitable
without_limit = core.part("start").without_limit
PLACE = 200  # the maximum number of characters of a place
LONGEST = 100  # the maximum number of successive conversions of one value
CLASSES = 1000  # the maximum number of classes whose conversion is cached
MAX_ITEMS = 1000000  # the maximum number of items of an iterator within a value, because it may have no end
# The types that are converted to text by str.
TEXTS = (
    ("decimal", "Decimal"),
    ("fractions", "Fraction"),
    ("uuid", "UUID"),
    ("ipaddress", "_IPAddressBase"),
    ("zoneinfo", "ZoneInfo"),
    ("collections", "UserString"),
    ("pandas", "Period", "Interval"),
    ("django.utils.functional", "Promise"),
)
# The methods with which objects of libraries convert themselves to plain values.
METHODS = ("to_dicts", "to_pylist", "as_py", "tolist", "to_list", "_asdict")

SCALARS = (str, int, float, type(None))
BINARY = (bytes, bytearray, memoryview)  # sent as bytes, or as base64 text within another value

ways = {}  # class → the function that converts its values


class Unrepresentable(core.Refusal):
    """Reports a value that JSON cannot represent: its place in the result, and a description."""

    def __init__(self, place, what):
        super().__init__(what)
        self.place = shown(place)

    def answer(self, number):
        errors, cause = core.part("errors"), self.__cause__
        more = {} if cause is None else {"python": errors.raised(cause)}
        errors.refuse(number, "result", str(self), place=self.place, **more)


def finish(number, value):
    """Answers a call with a value that the core cannot encode."""
    value = plain(value)
    if is_awaitable(value) or hasattr(type(value), "__aiter__") or type(value) is GENERATOR and core.loop is not None:
        return core.start_task(number, value)
    if type(value) is GENERATOR:
        return core.part("streams").Stream(number, value).run()
    try:
        body = body_of(value)
    except Unrepresentable as trouble:
        return trouble.answer(number)
    core.answer(core.BYTES if isinstance(value, BINARY) else core.RESULT, number, body)


def body_of(value):
    """Returns the body of an answer: the bytes themselves, or JSON. It raises Unrepresentable for other values."""
    body = raw(value) if isinstance(value, BINARY) else encode(value)
    if len(body) > core.LARGEST:
        most = core.LARGEST >> 20
        raise Unrepresentable("$", "the result is %d MB, at most %d MB" % (max(len(body) >> 20, most + 1), most))
    return body


def raw(value):
    try:
        return bytes(memoryview(value))
    except Exception as error:  # a released memoryview
        raise Unrepresentable("$", "%s object: %s" % (type(value).__name__, failure(error))) from error


def is_awaitable(value):
    """Reports whether a value must be awaited."""
    if type(value) is GENERATOR:
        return bool(value.gi_code.co_flags & ITERABLE_COROUTINE)
    return hasattr(type(value), "__await__")


def is_iterator(value):
    """Reports whether a value is an iterator."""
    return hasattr(type(value), "__next__") and hasattr(type(value), "__iter__") and not is_awaitable(value)


def plain(value):
    """Returns a generator of the items of an iterator, or of an object with __iter__ and __aiter__, or else the value."""
    kind = type(value)
    both = hasattr(kind, "__aiter__") and hasattr(kind, "__iter__") and not is_awaitable(value)
    return items_of(value) if both or kind is not GENERATOR and is_iterator(value) else value


def items_of(value):
    yield from value


def encode(value):
    """Encodes a value as JSON, or raises Unrepresentable."""
    try:
        body = core.encode(value)
    except BaseException:
        body = None
    # Outside of except, so that an exception raised here does not have the first one as its context.
    return encode_copy(value) if body is None else body


def encode_copy(value):
    """Encodes a plain copy of a value, or raises Unrepresentable."""
    try:
        return without_limit(core.encode, copy(value, "$", {}))
    except Unrepresentable:
        raise
    except RecursionError:
        raise Unrepresentable("$", "nested too deeply") from None
    except BaseException as error:
        raise Unrepresentable("$", failure(error)) from error


def failure(error):
    return "reading it raised " + core.part("errors").summary(error)


def convert(value):
    """Converts a value to one that is closer to JSON, or raises Unrepresentable.

    It does not read iterators, because the encoder may fail later, and the value is then converted again.
    """
    kind = type(value)
    way = ways.get(kind)
    if way is None:
        way = way_of(kind)
        if way is None:
            raise Unrepresentable("$", "%s object%s" % (core.part("errors").type_name(kind), advice(value)))
        if len(ways) > CLASSES:
            ways.clear()
        ways[kind] = way
    return way(value)


def way_of(kind):
    """Returns the function that converts the values of a class, or None if there is none."""
    if hasattr(kind, "__json__"):
        return kind.__json__
    if is_one(kind, "enum", "Enum"):
        return lambda value: value.value
    fields = fields_of(kind)
    if fields is not None:
        return fields
    if kind.__name__ in ("NaTType", "NAType") and kind.__module__.partition(".")[0] == "pandas":
        return lambda value: None
    if is_one(kind, "datetime", "timedelta"):
        return core.part("times").duration_text
    if hasattr(kind, "isoformat"):
        return lambda value: value.isoformat()
    if issubclass(kind, PathLike):
        return fspath
    if is_one(kind, "re", "Pattern"):
        return lambda value: value.pattern
    if any(is_one(kind, *one) for one in TEXTS):
        return str
    if issubclass(kind, BINARY):
        return base64
    if is_one(kind, "pandas", "DataFrame", "Series", "Index"):
        return core.part("tables").of_pandas
    if is_one(kind, "numpy", "generic", "ndarray"):
        return core.part("tables").of_numpy
    for name in METHODS:
        if callable(getattr(kind, name, None)):
            return lambda value: whole(getattr(value, name)(), value)
    if callable(getattr(kind, "keys", None)) and hasattr(kind, "__getitem__"):
        return mapping
    if issubclass(kind, (set, frozenset)):
        return in_order
    if issubclass(kind, (Sequence, Set, MappingView)):
        return list
    if hasattr(kind, "__get_pydantic_core_schema__"):
        return core.part("shapes").dumper(kind)
    if is_one(kind, "numbers", "Real"):
        return int if is_one(kind, "numbers", "Integral") else float
    return None


def fields_of(kind):
    """Returns the function that converts objects of a class with fields, or None if the class has no fields."""
    if hasattr(kind, "__dataclass_fields__"):
        names = [field.name for field in sys.modules["dataclasses"].fields(kind)]
    elif hasattr(kind, "__attrs_attrs__"):
        names = [field.name for field in kind.__attrs_attrs__]
    elif callable(getattr(kind, "model_dump", None)):  # pydantic
        return lambda value: value.model_dump(mode="json")
    elif hasattr(kind, "__struct_fields__"):
        return lambda value: sys.modules["msgspec"].to_builtins(value, str_keys=True)
    else:
        return None
    return lambda value: {name: getattr(value, name) for name in names}


def whole(made, value):
    """Returns the converted row or rows. Raises if a row has lost values because two columns have the same name."""
    names = getattr(value, "_fields", None) or getattr(value, "column_names", ())
    row = made[0] if isinstance(made, list) and made else made
    if isinstance(row, dict) and len(row) < len(names):
        raise doubled(value)
    return made


def mapping(value):
    """Converts a mapping, or a row with column names, to a dict."""
    names = list(value.keys())
    made = {name: value[name] for name in names}
    if len(made) < len(names):
        raise doubled(value)
    return made


def doubled(value):
    return Unrepresentable("$", "%s has two columns with the same name (rename one)" % type(value).__name__)


def in_order(value):
    try:
        return sorted(value)
    except TypeError:
        return list(value)


def listed(value):
    """Reads an iterator within a value."""
    found = list(islice(value, MAX_ITEMS + 1))
    if len(found) > MAX_ITEMS:
        raise Unrepresentable("$", "%s object of more than %d items" % (core.part("errors").type_name(type(value)), MAX_ITEMS))
    return found


def advice(value):
    """Returns advice on what to return instead of a value, in parentheses."""
    kind = type(value)
    if is_awaitable(value):
        return " (await it)"
    if kind is core.FUNCTION:
        return " (call it)"
    if kind.__module__ == core.plugin:
        return " (return a dict, or make %s a dataclass)" % kind.__qualname__
    return " (return a list of it)" if hasattr(kind, "__iter__") else " (make a dict or a list of it)"


def is_one(kind, module, *names):
    """Works like issubclass for classes of a module, which need not be imported."""
    found = sys.modules.get(module)
    return found is not None and issubclass(kind, tuple(getattr(found, name, ()) for name in names))


def base64(value):
    from binascii import b2a_base64

    return b2a_base64(value, newline=False).decode("ascii")


def copy(value, place, outer):
    """Makes a plain copy of a value, or raises Unrepresentable. outer has the values that contain this one, by id."""
    depth = len(outer)
    while not isinstance(value, SCALARS):
        if id(value) in outer:
            raise Unrepresentable(place, "a circular reference")
        outer[id(value)] = value
        if isinstance(value, (list, tuple, dict)):
            break
        if len(outer) - depth > LONGEST:
            raise Unrepresentable(place, "%s object that cannot be converted to plain values" % type(value).__qualname__)
        value = converted(value, place)
    if isinstance(value, dict):
        made = {}
        for key, item in members(value.items, place):
            text = key_text(key, place)
            if text in made:
                raise Unrepresentable(place, "two keys with the text %s" % step(text))
            made[text] = copy(item, place + step(text), outer)
    elif not isinstance(value, SCALARS):
        made = []
        for item in members(value.__iter__, place):
            made.append(copy(item, "%s[%d]" % (place, len(made)), outer))
    else:
        made = finite(value, place) if isinstance(value, float) else value
    while len(outer) > depth:
        outer.popitem()
    return made


def members(read, place):
    """Lists the members of a container. A container of a user's class may raise any exception."""
    try:
        return list(read())
    except BaseException as error:
        raise Unrepresentable(place, failure(error)) from error


def finite(value, place):
    """Returns a number, or its representation by core.nan if it is not finite."""
    if value - value == 0 or core.nan == "literal":
        return value
    if core.nan == "error":
        raise Unrepresentable(place, float.__repr__(value).replace("inf", "Infinity").replace("nan", "NaN"))
    return None


def converted(value, place):
    """Converts a value. It adds the place to exceptions."""
    try:
        return listed(value) if is_iterator(value) else convert(value)
    except Unrepresentable as trouble:
        raise Unrepresentable(place, str(trouble)) from None
    except BaseException as error:
        what = "%s object: %s" % (core.part("errors").type_name(type(value)), failure(error))
        raise Unrepresentable(place, what) from error


def key_text(key, place):
    """Returns a dictionary's key as text, as JSON writes it."""
    if isinstance(key, str):
        return key
    try:
        found = copy(key, place, {})
        if not isinstance(key, (bytes, tuple)) and not isinstance(found, (list, dict)):
            return found if isinstance(found, str) else without_limit(core.encode, found).decode()
    except Unrepresentable:
        pass
    name, text = core.part("errors").type_name(type(key)), core.part("describe").safe_repr(key)
    raise Unrepresentable(place, "a key of type %s: %s (make it a text, or return a list of pairs)" % (name, text[:60]))


def step(key):
    """Returns the part of a place that leads from a dictionary or a list to an item."""
    if isinstance(key, int):
        return "[%d]" % key
    if key.isidentifier():
        return "." + key
    try:
        return "[%s]" % core.encode(key).decode()
    except BaseException:
        return "[?]"


def shown(place):
    """Returns a place, without its middle if it is long."""
    half = PLACE // 2
    return place if len(place) <= PLACE else place[:half] + "…" + place[-half:]
