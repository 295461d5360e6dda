"""Results beyond plain JSON: what they become, and where one cannot be represented.

Nothing is imported for this: a value of a type exists only after its module.
"""

import sys
from _collections_abc import MappingView, Sequence, Set
from os import PathLike, fspath

import _pyplug_worker as core

GENERATOR = type(_ for _ in ())
ITERABLE_COROUTINE = 0x100  # a generator that types.coroutine made awaitable
without_limit = core.part("start").without_limit
PLACE = 200  # characters of a place that are shown
LONGEST = 100  # conversions of one value, each into the next
CLASSES = 1000  # classes whose conversion is remembered
MOST = 1000000  # items of an iterator that is part of a value: it may have no end
# The types whose text says what they are.
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

BINARY = (bytes, bytearray, memoryview)  # base64 text, where the answer is marked as bytes

ways = {}  # class → the function that converts its values


class Unrepresentable(Exception):
    """A value that JSON has nothing for: where it stands in the result, and what it is."""

    def __init__(self, place, what):
        super().__init__(what)
        self.place = place


def finish(number, value):
    """Answers with a value that the core cannot encode."""
    kind, value = core.RESULT, plain(value)
    if isinstance(value, BINARY):
        kind, value = core.BYTES, base64(value)
    elif is_awaitable(value) or hasattr(type(value), "__aiter__"):
        return core.way.start_task(number, value, core.finish)
    elif type(value) is GENERATOR:
        return core.way.stream(number, value)
    try:
        body = encode(value)
    except Unrepresentable as trouble:
        return refuse(number, trouble)
    core.answer(kind, number, body)


def check_size(body):
    """Raises Unrepresentable for a body that is too large for a frame."""
    if len(body) > core.LARGEST:
        most = core.LARGEST >> 20
        raise Unrepresentable("$", "the result is %d MB, at most %d MB" % (max(len(body) >> 20, most + 1), most))


def is_awaitable(value):
    """Reports whether a value is to be awaited."""
    if type(value) is GENERATOR:
        return bool(value.gi_code.co_flags & ITERABLE_COROUTINE)
    return hasattr(type(value), "__await__")


def is_iterator(value):
    """Reports whether a value gives its items one by one, and only once."""
    return hasattr(type(value), "__next__") and hasattr(type(value), "__iter__") and not is_awaitable(value)


def plain(value):
    """Returns a generator of the items for an iterator, and for what has both __iter__ and __aiter__; else the value."""
    kind = type(value)
    both = hasattr(kind, "__aiter__") and hasattr(kind, "__iter__") and not is_awaitable(value)
    return items_of(value) if both or kind is not GENERATOR and is_iterator(value) else value


def items_of(value):
    yield from value


def refuse(number, trouble):
    """Answers that a value cannot be represented."""
    more = {}
    if trouble.__cause__ is not None:
        more["python"] = core.part("errors").raised(trouble.__cause__)
    core.part("errors").refuse(number, "result", str(trouble), place=trouble.place, **more)


def encode(value):
    """Encodes a value, or raises Unrepresentable."""
    try:
        body = core.encode(value)
    except BaseException:
        body = None
    # Outside of except, so that an error raised here does not get the first one as its context.
    if body is None:
        body = encode_again(value)
    check_size(body)
    return body


def encode_again(value):
    """Encodes a plain copy of a value, or raises Unrepresentable."""
    try:
        return without_limit(core.encode, copy(value))
    except BaseException as error:
        if isinstance(error, Unrepresentable):
            raise
        if isinstance(error, RecursionError):
            raise Unrepresentable("$", "nested too deeply") from None
        raise Unrepresentable("$", failure(error)) from error


def failure(error):
    return "reading it raised " + core.part("errors").summary(error)


def convert(value):
    """Converts a value to something that is closer to JSON, or raises Unrepresentable.

    It does not read an iterator: the encoder may fail later, and the value is then converted again.
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
    """Returns the function that converts the values of a class; None if there is none."""
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
        return core.part("limits").dumper(kind)
    if is_one(kind, "numbers", "Real"):
        return int if is_one(kind, "numbers", "Integral") else float
    return None


def fields_of(kind):
    """Returns the function for a class whose objects list their fields; None if they do not."""
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
    """Returns what a row or rows became. Raises if a row has lost values because two columns have one name."""
    names = getattr(value, "_fields", None) or getattr(value, "column_names", ())
    row = made[0] if isinstance(made, list) and made else made
    if isinstance(row, dict) and len(row) < len(names):
        raise doubled(value)
    return made


def mapping(value):
    """The items of a mapping, or of a row that has names."""
    names = list(value.keys())
    made = {name: value[name] for name in names}
    if len(made) < len(names):
        raise doubled(value)
    return made


def doubled(value):
    return Unrepresentable("$", "%s has two columns with the same name (rename one)" % type(value).__name__)


def in_order(value):
    """The members of a set."""
    try:
        return sorted(value)
    except TypeError:
        return list(value)


def listed(value):
    """Reads an iterator that is part of a value."""
    found = []
    for item in value:
        if len(found) == MOST:
            raise Unrepresentable("$", "%s object of more than %d items" % (core.part("errors").type_name(type(value)), MOST))
        found.append(item)
    return found


def advice(value):
    """What to return instead of a value, in brackets."""
    kind = type(value)
    if is_awaitable(value):
        return " (await it)"
    if kind is core.FUNCTION:
        return " (call it)"
    if kind.__module__ == core.plugin:
        return " (return a dict, or make %s a dataclass)" % kind.__qualname__
    return " (return a list of it)" if hasattr(kind, "__iter__") else " (make a dict or a list of it)"


def is_one(kind, module, *names):
    """issubclass, for classes of a module that need not have been imported."""
    found = sys.modules.get(module)
    return found is not None and issubclass(kind, tuple(getattr(found, name, ()) for name in names))


def base64(value):
    from binascii import b2a_base64

    return b2a_base64(value, newline=False).decode("ascii")


def copy(root):
    """Makes a plain copy of a value, or raises Unrepresentable. Too deep for recursion is what may be wrong with it."""
    result = []
    open_ids = set()  # the containers that the present one is in
    work = [(result.append, root, "$", None)]
    limit = sys.getrecursionlimit()
    while work:
        put, value, place, leaving = work.pop()
        if leaving is not None:
            open_ids.discard(leaving)
            continue
        inside = []
        while not isinstance(value, (str, int, float, list, tuple, dict, type(None))):
            check_open(value, open_ids, place)
            inside.append(value)
            if len(inside) > LONGEST:
                raise Unrepresentable(shown(place), "%s object that cannot be converted to plain values" % type(value).__qualname__)
            value = converted(value, place)
        if isinstance(value, (list, tuple, dict)):
            check_open(value, open_ids, place)
            inside.append(value)
            if len(open_ids) > limit:
                raise Unrepresentable(shown(place), "nested too deeply")
            made = {} if isinstance(value, dict) else []
            put(made)
            children = []
            if isinstance(value, dict):
                for key, item in members(value, place):
                    text = key_text(key, place)
                    if text in made:
                        raise Unrepresentable(shown(place), "two keys with the text %s" % step(text))
                    made[text] = None
                    children.append((setter(made, text), item, place + step(text), None))
            else:
                for index, item in enumerate(members(value, place)):
                    children.append((made.append, item, "%s[%d]" % (place, index), None))
            # The list of work keeps them alive, so that their ids stay theirs.
            open_ids.update(map(id, inside))
            work.extend((None, one, None, id(one)) for one in inside)
            work.extend(reversed(children))
        elif isinstance(value, float) and (value != value or value - value != 0) and core.nan != "literal":
            if core.nan == "error":
                raise Unrepresentable(
                    shown(place), float.__repr__(value).replace("inf", "Infinity").replace("nan", "NaN")
                )
            put(None)
        else:
            put(value)
    return result[0]


def members(value, place):
    """Lists what is in a container; the user's own kind of list may raise anything."""
    try:
        return list(value.items() if isinstance(value, dict) else value)
    except BaseException as error:
        raise Unrepresentable(shown(place), failure(error)) from error


def setter(made, key):
    return lambda value: made.__setitem__(key, value)


def check_open(value, open_ids, place):
    if id(value) in open_ids:
        raise Unrepresentable(shown(place), "a circular reference")


def converted(value, place):
    """Converts a value. Adds its place to what that raises."""
    try:
        return listed(value) if is_iterator(value) else convert(value)
    except Unrepresentable as trouble:
        raise Unrepresentable(shown(place), str(trouble)) from None
    except BaseException as error:
        what = "%s object: %s" % (core.part("errors").type_name(type(value)), failure(error))
        raise Unrepresentable(shown(place), what) from error


def key_text(key, place):
    """The text of a dictionary's key, as JSON writes it."""
    if isinstance(key, str):
        return key
    try:
        found = copy(key)
        if not isinstance(key, (bytes, tuple)) and not isinstance(found, (list, dict)):
            return found if isinstance(found, str) else without_limit(core.encode, found).decode()
    except Unrepresentable:
        pass
    try:
        text = repr(key)
    except BaseException:
        text = "?"
    name = core.part("errors").type_name(type(key))
    raise Unrepresentable(shown(place), "a key of type %s: %s (make it a text, or return a list of pairs)" % (name, text[:60]))


def step(key):
    """Returns the step from a dictionary's place to that of a key."""
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
