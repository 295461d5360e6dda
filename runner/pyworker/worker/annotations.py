"""Makes converters of annotations.

Loaded with convert. An annotation that is not understood leaves the value as it is, and
so does one that cannot be evaluated: then Unresolved says why. Nothing is imported for
this: a type exists only after its module.
"""

import _collections_abc as abc
import sys

import _pyplug_worker as core

convert = core.part("convert")
without_limit = core.part("start").without_limit
Anything = convert.Anything
LISTS = (abc.Sequence, abc.MutableSequence, abc.Iterable, abc.Collection, abc.Container, abc.Reversible)
SETS = (abc.Set, abc.MutableSet)
TABLES = (abc.Mapping, abc.MutableMapping)
INNER = ("Annotated", "Final", "ClassVar", "Required", "NotRequired", "ReadOnly")
LIMITS = {"annotated_types", "pydantic", "pydantic_core"}  # packages whose limits pydantic checks
DATE = "a date such as 2024-12-31"
MOMENT = "a date and time such as 2024-12-31T12:30:00"
TIME = "a time such as 12:30:00"
FRACTION = "a fraction such as 1/3, or a number"
ZONE = "a time zone such as Europe/Oslo"
DURATION = "a duration such as PT1H30M, or seconds"

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
literals = set()  # the classes with a field that needs the literals of numbers
literal = False  # the same of the annotation that is looked at
unknown = ""  # a class in that annotation which nothing converts to


class Unresolved(Exception):
    """An annotation that cannot be evaluated."""


def text_of(note):
    return core.part("describe").type_text(note)


def unconverted(note, names):
    """The text of a class in an annotation which nothing converts to; "" if there is none."""
    global unknown
    unknown = ""
    converter(note, names)
    return unknown


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
    """Makes the converter of an annotation; names is where the names in quotes are looked up."""
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
    """The name of a form of typing, whichever module it is from."""
    own = isinstance(origin, type) and origin.__module__ not in ("typing", "types")
    return None if own else getattr(origin, "_name", None) or getattr(origin, "__name__", None)


def generic(note, origin, args, names):
    """Makes the converter of what has parameters in brackets."""
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
        args = () if args == ((),) else args
        return convert.Row([converter(one, names) for one in args], text_of(note))
    if origin is tuple and not args and type(note).__name__.endswith("GenericAlias") and "[" in repr(note):  # tuple[()]
        return convert.Row([], text_of(note))
    inner = [converter(one, names) for one in args if one is not Ellipsis]
    return of_class(origin, inner, note)


def limited(note, rules, names):
    """Makes the converter of an annotation with limits, such as Field(gt=0) or annotated_types.Gt(0)."""
    if not LIMITS.isdisjoint(kind.__module__.partition(".")[0] for one in rules for kind in type(one).__mro__):
        found = core.part("limits").converter(note, rules, names)
        if found is not None:
            return found
    return converter(note, names)


def union(args, names):
    """Makes the converter of a union; a union within is part of it."""
    members = []
    for one in args:
        found = converter(one, names)
        members += found.members if isinstance(found, convert.Union) else [found]
    return convert.Union(members)


def of_class(kind, inner, note):
    """Makes the converter of a class, with those of its parameters."""
    item = inner[0] if inner else ANYTHING
    if kind in LISTS or kind is list:
        return convert.Items(list, item, text_of(note))
    if kind in SETS or kind in (set, frozenset, tuple):
        return convert.Items(set if kind in SETS else kind, item, text_of(note))
    if kind in TABLES or kind is dict:
        value = inner[1] if len(inner) > 1 else ANYTHING
        return convert.Table(dict, item, value, text_of(note))
    if is_one(kind, "collections", "deque"):
        return convert.Items(kind, item, text_of(note))
    if is_one(kind, "collections", "OrderedDict"):
        return convert.Table(kind, item, inner[1] if len(inner) > 1 else ANYTHING, text_of(note))
    return standard(kind) or own(kind) or anything(kind)


def anything(kind):
    """The converter of a class which nothing converts to."""
    global unknown
    if kind.__module__ != "typing":
        unknown = text_of(kind)
    return ANYTHING


def is_one(kind, module, name):
    """Reports whether a class is the one of that name in a module, which need not have been imported."""
    return kind is getattr(sys.modules.get(module), name, None)


def standard(kind):
    """The converter of a class of the standard library; None for any other."""
    if kind.__module__ in ("datetime", "_pydatetime"):
        times = core.part("times")
        if is_one(kind, "datetime", "datetime"):
            return convert.Parsed(times.moment, MOMENT)
        if is_one(kind, "datetime", "date"):
            return convert.Parsed(times.date, DATE)
        if is_one(kind, "datetime", "time"):
            return convert.Parsed(times.time, TIME)
        if is_one(kind, "datetime", "timedelta"):
            return convert.Numeric(times.duration, DURATION, lambda value: kind(seconds=value))
    if is_one(kind, "decimal", "Decimal"):
        return exact(kind, "a decimal number")
    if is_one(kind, "fractions", "Fraction"):
        return exact(kind, FRACTION)
    if is_one(kind, "uuid", "UUID"):
        return convert.Parsed(kind, "a UUID")
    if is_one(kind, "re", "Pattern"):
        return convert.Parsed(sys.modules["re"].compile, "a regular expression")
    if is_one(kind, "zoneinfo", "ZoneInfo"):
        return convert.Parsed(kind, ZONE)
    if kind.__module__ == "ipaddress" and kind.__name__[:2] == "IP":
        return convert.Parsed(kind, "an " + kind.__name__)
    if "pathlib" in sys.modules and issubclass(kind, sys.modules["pathlib"].PurePath):
        return convert.Parsed(kind, "a path", True)
    return None


def exact(kind, text):
    """The converter of Decimal or Fraction, which keeps the digits of a literal."""
    global literal
    literal = True

    def parse(text):
        if set(text) & set("nN_"):  # NaN and Infinity
            raise ValueError
        try:
            return kind(text.strip())
        except ArithmeticError:
            raise ValueError from None

    return convert.Numeric(parse, text, lambda value: parse(getattr(value, "literal", None) or without_limit(repr, value)))


def own(kind):
    """The converter of a class of the user's, made once; None if there is none for it."""
    global literal, unknown
    if kind not in made:
        before, literal = (literal, unknown), False
        make(kind)
        if literal:
            literals.add(kind)
        literal, unknown = before
    literal = literal or kind in literals
    return made.get(kind)


def make(kind):
    """Makes the converter of a class of the user's, if there is one for it."""
    text = text_of(kind)
    if "enum" in sys.modules and issubclass(kind, sys.modules["enum"].Enum):
        made[kind] = core.part("shapes").Member(kind, text) if kind.__members__ else ANYTHING
    elif callable(getattr(kind, "model_validate", None)):
        made[kind] = core.part("shapes").Model(kind, text, kind.model_validate)
    elif hasattr(kind, "__dataclass_fields__"):
        found = made[kind] = core.part("shapes").Fields(kind, text)
        fill(found, kind, dataclass_fields(kind))
    elif issubclass(kind, tuple) and hasattr(kind, "_fields"):
        found = made[kind] = core.part("shapes").Row(kind, text)
        notes = getattr(kind, "__annotations__", core.NOTHING)
        defaults = getattr(kind, "_field_defaults", core.NOTHING)
        fill(found, kind, [(name, notes.get(name, object), name not in defaults) for name in kind._fields])
    elif issubclass(kind, dict) and hasattr(kind, "__total__"):
        found = made[kind] = core.part("shapes").Table(kind, text)
        fill(found, kind, typed_fields(kind))
    elif hasattr(kind, "__get_pydantic_core_schema__"):
        found = core.part("limits").converter(kind, (), core.NOTHING)
        if found is not None:
            made[kind] = found


def fill(found, kind, fields):
    """Gives a class the converters of its fields, unless one of them cannot be evaluated."""
    try:
        for name, note, required in fields:
            found.fields[name] = converter(note, names_of(kind, name)), required
    except BaseException:
        made.clear()  # others may have it for a field
        raise


def names_of(kind, name):
    """Where the names in the annotation of a field are looked up: in the module of the class that has it."""
    for one in kind.__mro__:
        if name in one.__dict__.get("__annotations__", core.NOTHING):
            kind = one
            break
    return getattr(sys.modules.get(kind.__module__), "__dict__", {})


def dataclass_fields(kind):
    """The fields that an object is made with: (name, annotation, whether it is required)."""
    missing = sys.modules["dataclasses"].MISSING
    for name, field in kind.__dataclass_fields__.items():
        form = getattr(field._field_type, "name", "")
        if form == "_FIELD_CLASSVAR" or not field.init:
            continue
        yield name, field.type, field.default is missing and field.default_factory is missing


def typed_fields(kind):
    """The fields of a TypedDict: (name, annotation, whether it is required)."""
    required = getattr(kind, "__required_keys__", kind.__annotations__ if kind.__total__ else ())
    for name, note in kind.__annotations__.items():
        told = note
        if hasattr(note, "__forward_arg__"):
            told = evaluated(note.__forward_arg__, names_of(kind, name))
        form = special(getattr(told, "__origin__", None))
        yield name, told, form == "Required" or form != "NotRequired" and name in required
