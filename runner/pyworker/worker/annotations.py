"""Makes the converters for annotations. It imports no type's module, because an annotation can only use an imported type.

If an annotation is not understood or cannot be evaluated, its converter leaves the value as it is and says why. In a
class with fields, this applies to each field alone.
"""

import _collections_abc as abc
import sys

import _pyplug_worker as core

convert, containers, scopes = core.part("convert"), core.part("containers"), core.part("scopes")
describe, without_limit = core.part("describe"), core.part("start").without_limit
EMPTY, LEFT_OUT = describe.EMPTY, describe.LEFT_OUT
Anything, special = convert.Anything, scopes.special
MAKE = dict.fromkeys((abc.Sequence, abc.MutableSequence, abc.Iterable, abc.Collection, abc.Container, abc.Reversible, list), list)
MAKE.update({abc.Set: set, abc.MutableSet: set, set: set, frozenset: frozenset, tuple: tuple})
TABLES = (abc.Mapping, abc.MutableMapping, dict)
FORMS = ("Required", "NotRequired", "ReadOnly")  # the forms of a TypedDict's fields
INNER = ("Annotated", "Final", "ClassVar", *FORMS)
LIMITS = {"annotated_types", "pydantic", "pydantic_core"}  # packages whose limits pydantic checks
STANDARD = {  # class of the standard library → the expected text, an example, its format in JSON Schema
    "datetime.date": ("a date such as 2024-12-31", "2026-01-31", "date"),
    "datetime.datetime": ("a date and time such as 2024-12-31T12:30:00", "2026-01-31T12:00:00", "date-time"),
    "datetime.time": ("a time such as 12:30:00", "12:00:00", "time"),
    "datetime.timedelta": ("a duration such as 1h30m or PT1H30M, or seconds", "PT1H", "duration"),
    "decimal.Decimal": ("a decimal number", "1.50", ""),
    "fractions.Fraction": ("a fraction such as 1/3, or a number", "1/3", ""),
    "ipaddress.IPv4Address": ("an IPv4Address", "192.0.2.1", "ipv4"),
    "ipaddress.IPv4Interface": ("an IPv4Interface", "192.0.2.1/24", ""),
    "ipaddress.IPv4Network": ("an IPv4Network", "192.0.2.0/24", ""),
    "ipaddress.IPv6Address": ("an IPv6Address", "2001:db8::1", "ipv6"),
    "ipaddress.IPv6Interface": ("an IPv6Interface", "2001:db8::1/32", ""),
    "ipaddress.IPv6Network": ("an IPv6Network", "2001:db8::/32", ""),
    "re.Pattern": ("a regular expression", "text", "regex"),
    "uuid.UUID": ("a UUID", "123e4567-e89b-12d3-a456-426614174000", "uuid"),
    "zoneinfo.ZoneInfo": ("a time zone such as Europe/Oslo", "UTC", ""),
}

ANYTHING = Anything()
NULL = convert.Null()
SIMPLE = {
    **{one.kind: one for one in (convert.Text(), convert.Int(), convert.Float(), convert.Bool(), NULL)},
    None: NULL,
    bytes: convert.Bytes(bytes, "bytes", True),
    bytearray: convert.Bytes(bytearray, "bytearray", True),
    object: ANYTHING,
}
DEEPEST = 20  # the maximum nesting of a type's parameters; deeper ones come from a class that refers to itself without end
made = {}  # class, perhaps with types for its variables → its converter


def text_of(note):
    return describe.type_text(note)


def converter(note, scope):
    """Makes the converter of an annotation in a scope."""
    return of(scope.resolve(note))


def of(note):
    """Makes the converter of a resolved annotation."""
    try:
        if note in SIMPLE:
            return SIMPLE[note]
    except TypeError:  # an unhashable annotation, such as Annotated[int, []]
        pass
    name, origin = type(note).__name__, getattr(note, "__origin__", None)
    if hasattr(note, "__supertype__"):  # NewType
        return converter(note.__supertype__, scopes.Scope(scopes.module(note)))
    if name == "TypeVar":
        return union(scopes.of_variable(note)) or ANYTHING
    if "TypeAliasType" in (name, type(origin).__name__):
        return of_alias(note)
    if name == "InitVar":
        return of(note.type)
    if name == "UnionType":
        return union(note.__args__)
    if getattr(note, "__unpacked__", False):
        return unknown(note)
    if origin is not None:
        return generic(note, origin, getattr(note, "__args__", ()))
    return of_class(note, (), note) if isinstance(note, type) else plain(note)


def unknown(note):
    """Makes the converter of an annotation for which there is no conversion."""
    return Anything("nothing converts to " + text_of(note))


def plain(note):
    """Makes the converter of a form of typing without parameters, or of an object that is not a type."""
    name = special(note) if type(note).__module__ in ("typing", "typing_extensions") else None
    return ANYTHING if name == "Any" else SIMPLE[str] if name == "LiteralString" else unknown(note)


def generic(note, origin, args):
    """Makes the converter of an annotation with parameters in brackets."""
    name = special(origin)
    if hasattr(note, "__metadata__"):  # the origin of an Annotated is the type itself
        return limited(origin, note.__metadata__)
    if name in INNER:
        return of(args[0])
    if name == "Union":
        return union(args)
    if name == "Optional":
        return union((*args, None))
    if name == "Literal":
        return core.part("shapes").literal(args, text_of(note))
    if not isinstance(origin, type) or any(map(scopes.is_unpacked, args)):
        return unknown(note)
    if origin is tuple and hasattr(note, "__args__") and args[-1:] != (Ellipsis,):
        return containers.Row([of(one) for one in args if one != ()], text_of(note))
    return of_class(origin, [one for one in args if one is not Ellipsis], note)


def limited(note, rules):
    """Makes the converter of an annotation with limits, such as Field(gt=0) or annotated_types.Gt(0)."""
    if not LIMITS.isdisjoint(kind.__module__.partition(".")[0] for one in rules for kind in type(one).__mro__):
        found = core.part("shapes").limited(note, rules)
        if found is not None:
            return found
    return of(note)


def union(notes):
    """Makes the converter of a union, or returns None for no types. It flattens unions within unions."""
    members = []
    for one in notes:
        found = of(one)
        members += found.members if isinstance(found, containers.Union) else [found]
    return containers.Union(members) if len(members) > 1 else next(iter(members), None)


def of_class(kind, args, note):
    """Makes the converter of a class. args are its parameters."""
    name = "%s.%s" % (kind.__module__, kind.__qualname__)
    if kind in MAKE or name == "collections.deque":
        return containers.Items(MAKE.get(kind, kind), of(args[0]) if args else ANYTHING, text_of(note))
    if kind in TABLES or name == "collections.OrderedDict":
        key, item = map(of, args) if len(args) == 2 else (ANYTHING, ANYTHING)
        return containers.Table(dict if kind in TABLES else kind, key, item, text_of(note))
    if name in STANDARD:
        return standard(kind, *STANDARD[name])
    if "pathlib" in sys.modules and issubclass(kind, sys.modules["pathlib"].PurePath):
        return convert.Parsed(kind, "a path", True)
    if name in ("typing.Any", "typing_extensions.Any"):
        return ANYTHING
    return known(note) or make(kind, note) or unknown(note if args else kind)


def of_alias(note):
    """Makes the converter of an alias, such as Pair[date] for `type Pair[T] = tuple[T, T]`. An alias may contain itself."""
    found = known(note)
    if found is None:
        found = remember(note, containers.Later(text_of(note)))
        with Complete():
            found.take = attempt(scopes.of_alias(note))
    return found if found.take is None else found.take


def known(note):
    """Returns the converter that was made for a class or an alias before, or None if there is none."""
    try:
        return made.get(note)
    except TypeError:  # the annotation contains an unhashable one, such as Annotated[int, []]
        return None


def remember(note, found):
    """Stores a converter before its inner converters are made, because a type may contain itself."""
    if depth(note) > DEEPEST:
        raise RecursionError("it refers to itself with ever larger types")
    try:
        made[note] = found
    except TypeError:
        pass
    return found


def depth(note):
    return 1 + max(map(depth, scopes.parts(note)), default=0)


def standard(kind, text, sample, form):
    """Makes the converter of a class of the standard library."""
    if kind.__module__ == "datetime":
        parse = core.part("times").PARSERS[kind.__name__]
        if kind.__name__ == "timedelta":
            found = convert.Numeric(parse, text, lambda value: kind(seconds=value))
        else:
            found = convert.Parsed(parse, text)
    elif kind.__name__ in ("Decimal", "Fraction"):
        found = exact(kind, text)
    else:
        found = convert.Parsed(sys.modules["re"].compile if kind.__name__ == "Pattern" else kind, text)
    found.sample, found.format = sample, form
    return found


def exact(kind, text):
    """Makes the converter of Decimal or Fraction, which keeps the digits of a literal."""

    def parse(text):
        if set(text) & set("nN_"):  # NaN and Infinity
            raise ValueError
        try:
            return kind(text.strip())
        except ArithmeticError:
            raise ValueError from None

    def number(value):
        if type(value) is float:
            raise convert.Inexact
        return parse(getattr(value, "literal", None) or without_limit(repr, value))

    return convert.Numeric(parse, text, number)


def make(kind, note):
    """Makes the converter of a user's class, or returns None if nothing converts to it.

    note is the class, perhaps with types for its variables.
    """
    shapes = core.part("shapes")
    text = text_of(kind) + text_of_args(note)
    if "enum" in sys.modules and issubclass(kind, sys.modules["enum"].Enum):
        return remember(note, shapes.member(kind, text)) if kind.__members__ else None
    if callable(getattr(kind, "model_validate", None)):
        return remember(note, shapes.Model(kind, text, kind.model_validate))
    if hasattr(kind, "__dataclass_fields__"):
        return fill(remember(note, shapes.Fields(kind, text)), note, dataclass_fields)
    if issubclass(kind, tuple) and hasattr(kind, "_fields"):
        return fill(remember(note, shapes.Row(kind, text)), note, tuple_fields)
    if issubclass(kind, dict) and hasattr(kind, "__total__"):
        return fill(remember(note, shapes.Table(kind, text)), note, typed_fields)
    found = shapes.limited(note, ()) if hasattr(kind, "__get_pydantic_core_schema__") else None
    return found and remember(note, found)


def text_of_args(note):
    args = getattr(note, "__args__", ())
    return "[%s]" % ", ".join(map(text_of, args)) if args else ""


def fill(found, note, fields):
    """Adds the fields to the converter of a class, and returns it. Values of a field that cannot be resolved stay as they are."""
    owner = scopes.ClassScopes(note)
    with Complete():
        for name, note, required, default in fields(owner):
            note = owner.of_field(name).attempt(note)
            found.fields[name] = attempt(note), required, note, default
    return found


class Complete:
    """Forgets all converters if a stored one cannot be completed, because others may contain it."""

    def __enter__(self):
        pass

    def __exit__(self, kind, error, trace):
        if kind is not None:
            made.clear()


def attempt(note):
    """Makes the converter of an annotation, which may be Unresolved. If that fails, makes one that says why."""
    try:
        return Anything(reason(note)) if isinstance(note, scopes.Unresolved) else of(note)
    except RecursionError:  # the types have no end
        raise
    except Exception as error:
        return Anything(reason(error))


def reason(error):
    """Returns why an annotation has no converter."""
    summary = str(error) if isinstance(error, scopes.Unresolved) else core.part("errors").summary(error)
    return "its annotation raises " + summary


def dataclass_fields(owner):
    """Yields the fields of a dataclass's constructor as (name, annotation, whether it is required, default)."""
    missing = sys.modules["dataclasses"].MISSING
    for name, field in owner.kind.__dataclass_fields__.items():
        form = getattr(field._field_type, "name", "")
        if form == "_FIELD_CLASSVAR" or not field.init:
            continue
        default = EMPTY if field.default is missing else field.default
        yield name, field.type, default is EMPTY and field.default_factory is missing, default


def tuple_fields(owner):
    """Yields the fields of a named tuple as (name, annotation, whether it is required, default)."""
    defaults = getattr(owner.kind, "_field_defaults", core.NOTHING)
    for name in owner.kind._fields:
        notes = [found[name] for found in map(scopes.own_notes, owner.kind.__mro__) if name in found]
        yield name, notes[0] if notes else object, name not in defaults, defaults.get(name, EMPTY)


def typed_fields(owner):
    """Yields the fields of a TypedDict as (name, annotation, whether it is required, default)."""
    kind, notes = owner.kind, scopes.own_notes(owner.kind)
    required = getattr(kind, "__required_keys__", notes if kind.__total__ else ())
    for name, note in notes.items():
        told = owner.of_field(name).attempt(note)
        form = special(getattr(told, "__origin__", None))
        note = note if isinstance(told, scopes.Unresolved) else told
        yield name, note, form == "Required" or form != "NotRequired" and name in required, EMPTY


def applied(params, returns, scope):
    """Returns a signature with its bound type variables replaced, and with the names of an Unpack[TypedDict]."""
    found = [(name, kind, default, scope.shown(note)) for name, kind, default, note in params]
    if found and found[-1][1] == "names":
        others = [name for name, *_ in found]
        found[-1:] = [one for one in unpacked(scope.attempt(found[-1][3])) if one[0] not in others] or found[-1:]
    return found, scope.shown(returns)


def unpacked(note):
    """Yields the parameters that **kwargs with an Unpack[TypedDict] stand for."""
    inner = note.__args__[0] if scopes.is_unpack(note) else None
    if hasattr(getattr(inner, "__origin__", inner), "__total__"):
        for name, note, required, _ in typed_fields(scopes.ClassScopes(inner)):
            while special(getattr(note, "__origin__", None)) in FORMS:
                note = note.__args__[0]
            yield name, "name", EMPTY if required else LEFT_OUT, note
