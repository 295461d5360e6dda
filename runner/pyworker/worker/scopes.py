"""Resolves annotations in their scopes, which define names and the values of type variables.

A scope resolves an annotation once, before its converter is made. It evaluates text, and replaces bound type variables:
`item: T` in `Box[date]` becomes a date.
"""

import sys
from _collections_abc import Callable
from _operator import is_, or_

import _pyplug_worker as core

NOTHING = core.NOTHING
VARIABLES = ("TypeVar", "ParamSpec", "TypeVarTuple")
UNIONS = ("UnionType", "Union")  # the classes of X | Y


class Unresolved(Exception):
    """Reports that an annotation cannot be evaluated."""


class Scope:
    """Resolves annotations.

    names has the globals of a module. own has type parameters by name, which hide globals. body has the names of a class,
    which do not hide globals. bound maps each type variable, and "Self", to its type, or to Unresolved.
    """

    def __init__(self, names, own=NOTHING, body=NOTHING, bound=NOTHING):
        self.names, self.own, self.body, self.bound = names, own, body, bound

    def evaluated(self, text):
        """Returns the type of an annotation in quotes."""
        names = {**self.names, **self.own} if self.own else self.names
        try:
            try:
                return eval(text, names)
            except NameError:
                if not self.body:
                    raise
                return eval(text, dict(self.body), names)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            if isinstance(error, TypeError) and sys.version_info < (3, 10):
                try:
                    return piped(text, names)
                except Exception:
                    pass
            raise unresolved(error) from None

    def resolve(self, note):
        """Returns an annotation with text evaluated and bound type variables replaced."""
        if type(note) is type or note is None:
            return note
        if isinstance(note, str):
            return self.resolve(self.evaluated(note))
        if hasattr(note, "__forward_arg__"):
            other = sys.modules.get(str(getattr(note, "__forward_module__", None)))
            scope = Scope(vars(other), self.own, self.body, self.bound) if other else self
            return scope.resolve(scope.evaluated(note.__forward_arg__))
        if type(note).__name__ in VARIABLES or special(note) == "Self":
            found = self.bound.get(note if type(note).__name__ in VARIABLES else "Self", note)
            if isinstance(found, Unresolved):
                raise Unresolved(*found.args)
            return found
        if type(note).__name__ == "InitVar":
            return type(note)(self.resolve(note.type))
        args = parts(note)
        found = self.resolve_all(args)
        return note if len(found) == len(args) and all(map(is_, found, args)) else rebuilt(note, tuple(found))

    def resolve_all(self, notes):
        """Resolves the parameters of a type. An unpacked tuple becomes its items."""
        return [one for note in notes for one in items(self.resolve(note))]

    def attempt(self, note):
        """Returns a resolved annotation, or Unresolved with the reason."""
        try:
            return self.resolve(note)
        except RecursionError:
            raise
        except Exception as error:
            return error if isinstance(error, Unresolved) else unresolved(error)

    def shown(self, note):
        """Returns an annotation with bound type variables replaced, or the annotation itself if it has none."""
        text_of = core.part("describe").type_text
        plain, found = Scope(self.names, self.own, self.body).attempt(note), self.attempt(note)
        return note if isinstance(found, Unresolved) or text_of(found) == text_of(plain) else found


def unresolved(error):
    return Unresolved(core.part("errors").summary(error))


def piped(text, names):
    """Evaluates an annotation on Python 3.9, which does not support X | Y. It replaces X | Y by Union[X, Y]."""
    import ast
    from typing import Union

    class Unions(ast.NodeTransformer):
        def visit_BinOp(self, node):
            self.generic_visit(node)
            pair = ast.Tuple([node.left, node.right], ast.Load())
            return ast.Subscript(ast.Name(".Union", ast.Load()), pair, ast.Load())

    tree = Unions().visit(ast.parse(text, mode="eval"))
    return eval(compile(ast.fix_missing_locations(tree), "", "eval"), names, {".Union": Union})


def special(origin):
    """Returns the name of a form of typing or typing_extensions, such as Union, or None for another class."""
    own = isinstance(origin, type) and origin.__module__ not in ("typing", "types")
    return None if own else getattr(origin, "_name", None) or getattr(origin, "__name__", None)


def parts(note):
    """Returns the types within an annotation."""
    models = getattr(note, "__pydantic_generic_metadata__", NOTHING)
    if models:  # a generic model of pydantic has its parameters here even before it is complete
        return models["parameters"]
    origin, args = getattr(note, "__origin__", None), getattr(note, "__args__", ())
    values = origin is Callable or special(origin) == "Literal" or args == ((),)  # the last is Tuple[()] before Python 3.11
    return () if values or origin is None and type(note).__name__ not in UNIONS else args


def rebuilt(note, args):
    """Returns an annotation with its inner types replaced."""
    if hasattr(note, "copy_with") and not is_unpack(note):
        return note.copy_with(args)
    if type(note).__name__ in UNIONS:
        found = args[0]
        for one in args[1:]:
            found = or_(found, one)
        return found
    origin = note if hasattr(note, "__pydantic_generic_metadata__") else note.__origin__
    return origin[args[0] if len(args) == 1 else args]


def items(note):
    """Returns the items of an unpacked tuple, such as *tuple[int, str]. Any other annotation is the only item."""
    inner = note if getattr(note, "__unpacked__", False) else note.__args__[0] if is_unpack(note) else None
    args = getattr(inner, "__args__", ())
    return args if getattr(inner, "__origin__", None) is tuple and Ellipsis not in args else [note]


def is_unpacked(note):
    """Reports whether an annotation stands for several types, such as *Ts or *tuple[int, ...]."""
    return is_unpack(note) or getattr(note, "__unpacked__", False)


def is_unpack(note):
    return special(getattr(note, "__origin__", None)) == "Unpack"


# Type variables


def bind(params, args):
    """Binds type variables to arguments, or else to their defaults. A variable with neither stays free."""
    bound, args = {}, list(args)
    for index, one in enumerate(params):
        if type(one).__name__ == "TypeVarTuple" and args:
            count = max(len(args) - (len(params) - index - 1), 0)
            bound[one], args = tuple.__class_getitem__(tuple(args[:count])), args[count:]
            continue
        default = [one.__default__] if getattr(one, "has_default", bool)() else []
        given, args = args[:1] or default, args[1:]
        if default and given[0] is default[0]:  # a default may contain other variables; typing passes a default as an argument, too
            given = [Scope(module(one), bound=bound).attempt(default[0])]
        bound.update(zip((one,), given))
    return bound


def module(thing):
    """Returns the globals of the module in which a class, an alias or a type variable was defined."""
    return getattr(sys.modules.get(thing.__module__), "__dict__", {})


def by_name(params):
    return {one.__name__: one for one in params}


def own_notes(kind):
    """Returns the annotations in the body of a class."""
    if sys.version_info < (3, 14):
        return kind.__dict__.get("__annotations__", NOTHING)
    return core.part("describe").annotations(kind)


class ClassScopes:
    """Has the scopes of a class and of its bases. note is the class, perhaps with types for its variables."""

    def __init__(self, note):
        self.note, self.kind = note, getattr(note, "__origin__", note)
        self.bound = {}  # class → the types of its type variables
        self.add(self.kind, parts(note))

    def add(self, kind, args):
        if kind in self.bound:
            return
        bound = self.bound[kind] = bind(getattr(kind, "__parameters__", ()), args)
        scope = self.scope(kind)
        for base in kind.__dict__.get("__orig_bases__", kind.__bases__):
            origin = getattr(base, "__origin__", base)
            if isinstance(origin, type) and origin.__module__ not in ("builtins", "typing", "typing_extensions"):
                self.add(origin, map(scope.attempt, parts(base)))
        bound["Self"] = self.note

    def scope(self, kind):
        """Returns the scope of the annotations in the body of the class, or of a base."""
        return Scope(module(kind), by_name(getattr(kind, "__type_params__", ())), kind.__dict__, self.bound.get(kind, NOTHING))

    def of_field(self, name):
        """Returns the scope of a field's annotation, which may be in a base. A TypedDict also has its bases' annotations."""
        if hasattr(self.kind, "__total__"):
            note = own_notes(self.kind).get(name)
            owners = [one for one in self.bound if own_notes(one).get(name) == note][-1:]
        else:
            owners = [one for one in self.kind.__mro__ if name in own_notes(one)]
        return self.scope(next(iter(owners), self.kind))


def of_alias(note):
    """Returns the type of an alias, such as Pair[date] of `type Pair[T] = tuple[T, T]`, or Unresolved with the reason."""
    alias = getattr(note, "__origin__", note)
    params = alias.__type_params__
    try:
        value = alias.__value__
    except Exception as error:  # Python evaluates the alias when __value__ is read
        return unresolved(error)
    return Scope(module(alias), by_name(params), bound=bind(params, parts(note))).attempt(value)


def of_variable(note):
    """Returns the types that a free type variable allows: its constraints or its bound, or () for any type."""
    notes = note.__constraints__ or (note.__bound__,)
    return Scope(module(note)).resolve_all(() if notes == (None,) else notes)


def of_function(function):
    """Returns the scope of a function's annotations: that of the innermost wrapped function, and of its class."""
    *_, plain = core.part("describe").layers(function)
    own = getattr(function if hasattr(function, "__self__") else getattr(function, "func", None), "__self__", None)
    if not hasattr(plain, "__globals__"):  # a callable object
        own, plain = plain, getattr(type(plain), "__call__", None)
    names = getattr(plain, "__globals__", {})
    params = by_name(getattr(plain, "__type_params__", ()))
    path = getattr(plain, "__qualname__", "").rpartition(".")[0] if names else ""
    if not path or "<locals>" in path:
        return Scope(names, params)
    note = class_at(names, path) if own is None else class_of(own)
    kinds = getattr(getattr(note, "__origin__", note), "__mro__", ())
    kind = next((one for one in kinds if (one.__module__, one.__qualname__) == (plain.__module__, path)), None)
    if kind is None:
        return Scope(names, params)
    scope = ClassScopes(note).scope(kind)
    scope.own = {**scope.own, **params}
    return scope


def class_at(names, path):
    """Returns the class at a dotted path, for a static method."""
    first, *rest = path.split(".")
    own = names.get(first)
    for name in rest:
        own = getattr(own, name, None)
    return own


def class_of(own):
    """Returns the class of the object on which a method is called, such as Box[date]."""
    if isinstance(own, core.part("hooks").Unmade):
        return own.kind
    return own if isinstance(own, type) else getattr(own, "__dict__", NOTHING).get("__orig_class__", type(own))
