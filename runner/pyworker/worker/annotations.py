"""Makes converters of annotations. Nothing is imported for this: a type exists only after its module.

An annotation that is not understood leaves the value as it is, and so does one that is Unresolved.
"""

import _collections_abc as abc
import sys

import _pyplug_worker as core

convert = core.part("convert")
without_limit, EMPTY = core.part("start").without_limit, core.part("describe").EMPTY
Anything = convert.Anything
MAKE = dict.fromkeys((abc.Sequence, abc.MutableSequence, abc.Iterable, abc.Collection, abc.Container, abc.Reversible, list), list)
MAKE.update({abc.Set: set, abc.MutableSet: set, set: set, frozenset: frozenset, tuple: tuple})
TABLES = (abc.Mapping, abc.MutableMapping, dict)
INNER = ("Annotated", "Final", "ClassVar", "Required", "NotRequired", "ReadOnly")
LIMITS = {"annotated_types", "pydantic", "pydantic_core"}  # packages whose limits pydantic checks
STANDARD = {  # class of the standard library → what it wants, an example, its format in JSON Schema
    "datetime.date": ("a date such as 2024-12-31", "2026-01-31", "date"),
    "datetime.datetime": ("a date and time such as 2024-12-31T12:30:00", "2026-01-31T12:00:00", "date-time"),
    "datetime.time": ("a time such as 12:30:00", "12:00:00", "time"),
    "datetime.timedelta": ("a duration such as PT1H30M, or seconds", "PT1H", "duration"),
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
NULL = convert.Null(type(None), "None")
SIMPLE = {
    str: convert.Text(str, "str"),
    int: convert.Int(int, "int"),
    float: convert.Float(float, "float"),
    bool: convert.Bool(bool, "bool"),
    None: NULL,
    type(None): NULL,
    bytes: convert.Bytes(bytes, "bytes", True),
    bytearray: convert.Bytes(bytearray, "bytearray", True),
    object: ANYTHING,
}
made = {}  # class → its converter


class Unresolved(Exception):
    """An annotation that cannot be evaluated."""


def text_of(note):
    return core.part("describe").type_text(note)


def evaluated(text, names):
    """The type that an annotation in quotes stands for."""
    try:
        return eval(text, names)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        if isinstance(error, TypeError) and sys.version_info < (3, 10):
            try:
                return piped(text, names)
            except Exception:
                pass
        raise Unresolved(core.part("errors").summary(error)) from None


def piped(text, names):
    """Evaluates an annotation for Python 3.9, which has no X | Y: that becomes Union[X, Y]."""
    import ast
    from typing import Union

    class Unions(ast.NodeTransformer):
        def visit_BinOp(self, node):
            self.generic_visit(node)
            pair = ast.Tuple([node.left, node.right], ast.Load())
            return ast.Subscript(ast.Name(".Union", ast.Load()), pair, ast.Load())

    tree = Unions().visit(ast.parse(text, mode="eval"))
    return eval(compile(ast.fix_missing_locations(tree), "", "eval"), names, {".Union": Union})


def converter(note, names):
    """Makes the converter of an annotation. names contains what quoted annotations refer to."""
    try:
        if note in SIMPLE:
            return SIMPLE[note]
    except TypeError:  # not hashable, as an Annotated may be
        pass
    if isinstance(note, str):
        return converter(evaluated(note, names), names)
    if hasattr(note, "__forward_arg__"):
        other = sys.modules.get(str(getattr(note, "__forward_module__", None)))
        return converter(evaluated(note.__forward_arg__, vars(other) if other else names), names)
    if hasattr(note, "__supertype__"):  # NewType
        return converter(note.__supertype__, names)
    if type(note).__name__ == "TypeAliasType":
        return converter(note.__value__, names)
    if type(note).__name__ == "InitVar":
        return converter(note.type, names)
    if type(note).__name__ == "UnionType":
        return union(note.__args__, names)
    origin = getattr(note, "__origin__", None)
    if origin is not None:
        return generic(note, origin, getattr(note, "__args__", ()), names)
    return of_class(note, (), note) if isinstance(note, type) else ANYTHING


def special(origin):
    """Returns the name of a form of typing, such as Union, also from typing_extensions; None for another class."""
    own = isinstance(origin, type) and origin.__module__ not in ("typing", "types")
    return None if own else getattr(origin, "_name", None) or getattr(origin, "__name__", None)


def generic(note, origin, args, names):
    """Makes the converter of an annotation with parameters in brackets."""
    name = special(origin)
    if hasattr(note, "__metadata__"):  # Annotated has the type itself for its origin
        return limited(origin, note.__metadata__, names)
    if name in INNER:
        return converter(args[0], names)
    if name == "Union":
        return union(args, names)
    if name == "Optional":
        return union((*args, None), names)
    if name == "Literal":
        return core.part("shapes").literal(args, text_of(note))
    if not isinstance(origin, type):
        return ANYTHING
    if origin is tuple and args and args[-1] is not Ellipsis:
        return convert.Row([converter(one, names) for one in args], text_of(note))
    inner = [converter(one, names) for one in args if one is not Ellipsis]
    return of_class(origin, inner, note)


def limited(note, rules, names):
    """Makes the converter of an annotation with limits, such as Field(gt=0) or annotated_types.Gt(0)."""
    if not LIMITS.isdisjoint(kind.__module__.partition(".")[0] for one in rules for kind in type(one).__mro__):
        found = core.part("shapes").limited(note, rules, names)
        if found is not None:
            return found
    return converter(note, names)


def union(args, names):
    """Makes the converter of a union. It flattens unions within unions."""
    members = []
    for one in args:
        found = converter(one, names)
        members += found.members if isinstance(found, convert.Union) else [found]
    return convert.Union(members)


def of_class(kind, inner, note):
    """Makes the converter of a class. inner has the converters of its parameters."""
    item = inner[0] if inner else ANYTHING
    name = "%s.%s" % (kind.__module__, kind.__qualname__)
    if kind in MAKE or name == "collections.deque":
        return convert.Items(MAKE.get(kind, kind), item, text_of(note))
    if kind in TABLES or name == "collections.OrderedDict":
        return convert.Table(dict if kind in TABLES else kind, item, inner[1] if len(inner) > 1 else ANYTHING, text_of(note))
    if name in STANDARD:
        return standard(kind, *STANDARD[name])
    if "pathlib" in sys.modules and issubclass(kind, sys.modules["pathlib"].PurePath):
        return convert.Parsed(kind, "a path", True)
    if kind not in made:
        make(kind)
    return made.get(kind) or Anything("" if kind.__module__ == "typing" else text_of(kind))


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
    """The converter of Decimal or Fraction, which keeps the digits of a literal."""

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


def make(kind):
    """Makes the converter of a class of the user's, if there is one for it."""
    text = text_of(kind)
    if "enum" in sys.modules and issubclass(kind, sys.modules["enum"].Enum):
        made[kind] = core.part("shapes").Member(kind, text) if kind.__members__ else ANYTHING
    elif callable(getattr(kind, "model_validate", None)):
        made[kind] = core.part("shapes").Model(kind, text, kind.model_validate)
    elif hasattr(kind, "__dataclass_fields__"):
        fill(core.part("shapes").Fields(kind, text), dataclass_fields(kind))
    elif issubclass(kind, tuple) and hasattr(kind, "_fields"):
        notes = getattr(kind, "__annotations__", core.NOTHING)
        defaults = getattr(kind, "_field_defaults", core.NOTHING)
        fields = [(name, notes.get(name, object), name not in defaults, defaults.get(name, EMPTY)) for name in kind._fields]
        fill(core.part("shapes").Row(kind, text), fields)
    elif issubclass(kind, dict) and hasattr(kind, "__total__"):
        fill(core.part("shapes").Table(kind, text), typed_fields(kind))
    elif hasattr(kind, "__get_pydantic_core_schema__"):
        found = core.part("shapes").limited(kind, (), core.NOTHING)
        if found is not None:
            made[kind] = found


def fill(found, fields):
    """Keeps the converter of a class, and adds those of its fields. If one fails, it forgets the converters of all classes."""
    made[found.kind] = found
    try:
        for name, note, required, default in fields:
            found.fields[name] = converter(note, names_of(found.kind, name)), required, note, default
    except BaseException:
        made.clear()  # others may have this class in a field
        raise


def names_of(kind, name):
    """Where the names in the annotation of a field are looked up: in the module of the class that has it."""
    for one in kind.__mro__:
        if name in one.__dict__.get("__annotations__", core.NOTHING):
            kind = one
            break
    return getattr(sys.modules.get(kind.__module__), "__dict__", {})


def dataclass_fields(kind):
    """The fields that an object is made with: (name, annotation, whether it is required, default)."""
    missing = sys.modules["dataclasses"].MISSING
    for name, field in kind.__dataclass_fields__.items():
        form = getattr(field._field_type, "name", "")
        if form == "_FIELD_CLASSVAR" or not field.init:
            continue
        default = EMPTY if field.default is missing else field.default
        yield name, field.type, default is EMPTY and field.default_factory is missing, default


def typed_fields(kind):
    """The fields of a TypedDict: (name, annotation, whether it is required, default)."""
    required = getattr(kind, "__required_keys__", kind.__annotations__ if kind.__total__ else ())
    for name, note in kind.__annotations__.items():
        told = note
        if hasattr(note, "__forward_arg__"):
            told = evaluated(note.__forward_arg__, names_of(kind, name))
        form = special(getattr(told, "__origin__", None))
        yield name, told, form == "Required" or form != "NotRequired" and name in required, EMPTY
