"""Decides which names of the user's file are hooks, by reading its source, and explains why others are not."""

from _thread import allocate_lock

import _pyplug_worker as core

ONLY_AST = 0x400
FUNCTION = core.FUNCTION
METHOD = type(type("", (), {"m": lambda self: None})().m)
MODULE = type(core)
BUILTIN = type(len)
STANDARD = ("builtins", "functools", "operator", "types")  # modules whose callable objects count as functions

made = {}  # class → the object on which its methods are called
making = allocate_lock()
bound = None  # name → (how it is bound, the first name in the value of an alias)


def find(number, name):
    """Returns the hook with a name. If there is none, answers with an error and returns None."""
    function, why = look_up(name)
    if why is None:
        function = ready(function)
        key = underlying(function)
        if core.known.get(name) is not key:
            core.known[name], core.expected[name] = key, core.plain_kinds(key, key is not function)
        return function
    more = {"why": why} if why else {}
    if is_command(core.namespace.get(name)):
        more["program"] = True
    core.part("errors").refuse(number, "hook", 'no hook "%s"' % name, hooks=list(listing()[0]), **more)
    return None


def underlying(function):
    """Returns the function behind a method or behind a result of Unmade.bind, and any other function unchanged."""
    return getattr(function, "__func__", function) if type(function) in (FUNCTION, METHOD) else function


def ready(function):
    """Returns the callable of a hook from look_up."""
    unmade = type(function) is METHOD and type(function.__self__) is Unmade
    return function.__self__.bind(function.__func__) if unmade else function


def listing():
    """Returns the functions of all hooks by name, in the order of the source, and notes.

    A note names a class whose methods are not hooks, because there is no object of it and none can be created.
    """
    found, existing, unmade = {}, [], {}
    for name in candidates():
        value = core.namespace.get(name.partition(".")[0])
        function, why = look_up(name)
        if why is None:
            found[name] = function
        if "." not in name:
            existing += type(value).__mro__ if not_public(name) is None else ()
        elif why and isinstance(value, type):
            missing = lacks(value)
            if missing and why.endswith(missing):
                unmade[value] = value.__name__, missing, value.__name__.lower(), value.__name__
    note = "`%s` %s: its methods are not hooks; create an object, as with `%s = %s(…)`"
    return found, [note % words for kind, words in unmade.items() if kind not in existing]


def candidates():
    """Returns the names that may be hooks."""
    chosen = listed()
    public = [name for name in (core.namespace if chosen is None else chosen) if isinstance(name, str)]
    public = [name for name in dict.fromkeys(public) if "." not in name]
    return [dotted for name in public for dotted in (name, *methods(name))]


def methods(name):
    """Returns the dotted names of the methods of a public class or object that the file defines itself."""
    value = core.namespace.get(name)
    kinds = (value if isinstance(value, type) else type(value)).__mro__
    members = [member for kind in kinds if in_file(kind) for member in kind.__dict__.items()]
    bare = (staticmethod, classmethod)
    return ["%s.%s" % (name, key) for key, value in dict(members).items() if callable(value) or isinstance(value, bare)]


class Unmade:
    """Stands for an object of a class. The object is created, without arguments, when a method is first called."""

    def __init__(self, kind):
        self.kind = kind

    def bind(self, function):
        def call(*args, **kwargs):
            with making:
                if self.kind not in made:
                    made[self.kind] = self.kind()
            return function(made[self.kind], *args, **kwargs)

        call.__func__, call.__self__ = function, self  # as a method has them
        return call


def listed():
    """Returns __all__, or None if it is missing or not a list."""
    chosen = core.namespace.get("__all__")
    return chosen if isinstance(chosen, (list, tuple)) else None


def look_up(name):
    """Returns (function, None), or (None, why there is no such hook). The reason is "" if the name is not defined.

    The function describes the hook, and ready returns its callable. Python normalizes the names in source code, so the
    normalized form of a name is tried, too.
    """
    function, why = look_up_exact(name)
    if why is not None and not name.isascii():
        other = look_up_exact(normalized(name))
        return other if other[1] is None else (function, why)
    return function, why


def normalized(name):
    """Returns a name as Python's parser normalizes it."""
    from unicodedata import normalize

    return normalize("NFKC", name)


def look_up_exact(name):
    first, *rest = name.split(".")
    if first not in core.namespace:
        return None, "`%s` is in `__all__` but not defined" % first if first in (listed() or ()) else ""
    value = core.namespace[first]
    why = not_public(first) or (not_own_object(first, value) if rest else not_a_hook(first, value))
    path = first
    for step in rest:
        if why is None and step.startswith("_"):
            why = "`%s` is private" % step
        if why is not None:
            return None, why
        try:
            member = getattr(value, step)
        except BaseException:
            return None, "`%s` has no attribute `%s`" % (path, step)
        path += "." + step
        if isinstance(value, type) and is_unbound(value, step, member):
            why = not_made(value)
            why = why and "`%s` is a method, and `%s` %s" % (step, value.__name__, why)
            member = METHOD(member, Unmade(value))
        elif isinstance(member, MODULE):
            why = "`%s` is a module" % path
        value = member
    if why is None and rest:
        why = not_callable(path, value)
    return (value, None) if why is None else (None, why)


def not_public(name):
    chosen = listed()
    if chosen is not None:
        return None if name in chosen else "`%s` is not in `__all__`" % name
    return "`%s` is private" % name if name.startswith("_") else None


def not_callable(name, value):
    if isinstance(value, type):
        members = [one for one in methods(name) if look_up(one)[1] is None] if "." not in name else ()
        return "`%s` is a class" % name + ("; its methods are " + ", ".join(members) if members else "")
    if is_command(value):
        return "`%s` is a command of click, which reads a command line" % name
    return None if callable(value) else "`%s` is not callable" % name


def is_command(value):
    """Reports whether a value is a command or a group of click, or of typer's copy. Calling it would end the process."""
    return hasattr(type(value), "make_context") and hasattr(type(value), "make_parser")


def not_a_hook(name, value):
    """Returns why a public name is not a hook, or None if it is one."""
    if listed() is not None:  # __all__ decides
        return not_callable(name, value)
    if type(value) is FUNCTION and value.__globals__ is core.namespace:
        return None
    return imported(name, value) or not_callable(name, value) or only_looks_callable(name, value)


def only_looks_callable(name, value):
    """Returns why an object of a foreign class is not a hook, or None. A server calls such an object, for example FastAPI()."""
    kind = type(value)
    if root(name) != "value" or kind.__module__ in STANDARD or in_file(kind):
        return None
    return "`%s` is an object of %s: call one of its methods, as `%s.METHOD`" % (name, core.part("errors").type_name(kind), name)


def not_own_object(name, value):
    """Returns why methods cannot be reached through a public name, or None if they can."""
    if isinstance(value, MODULE):
        return "`%s` is a module" % name
    return imported(name, value)


def imported(name, value):
    """Returns why the value of a name does not belong to the file, or None if it does."""
    if root(name) in ("def", "class", "value") or in_file(value):
        return None
    return "`%s` is imported, not defined here" % name


def root(name):
    """Returns how the file binds a name. For an alias, that is how the file binds the original name."""
    how, other = binding(name)
    for _ in range(100):
        if how != "alias":
            break
        how, other = binding(other)
    return how


def in_file(value):
    """Reports whether a value was defined in the file, or below the package, according to its __module__."""
    try:
        module = value.__module__ + "."
    except BaseException:  # there is no __module__, or a __getattr__ raises
        return False
    if core.plugin_file.endswith("__init__.py"):
        return module.startswith(core.plugin + ".")
    return module == core.plugin + "." and isinstance(value, (FUNCTION, BUILTIN, type))


def is_unbound(kind, name, member):
    """Reports whether a member of a class needs an object."""
    raw = next((one.__dict__[name] for one in kind.__mro__ if name in one.__dict__), None)
    return raw is member and callable(raw) and hasattr(type(raw), "__get__")


def not_made(kind):
    """Returns why an object of a class cannot be created without arguments, or None if it can."""
    if kind in made:
        return None
    if getattr(kind, "__abstractmethods__", None) or getattr(kind, "_is_protocol", False):
        return "is abstract"
    return "is an enum" if hasattr(kind, "__members__") else lacks(kind)


def lacks(kind):
    """Returns a text with the required arguments of a class's constructor, or None if there are none."""
    needed = ["`%s`" % name for name in core.part("describe").needed(kind)]
    return "cannot be created without " + " and ".join(needed) if needed else None


def binding(name):
    """Returns how the file binds a name ("def", "class", "import", "alias", "value" or None), and the original of an alias."""
    global bound
    if bound is None:
        bound = {}
        try:
            import warnings

            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                with open(core.plugin_file, "rb") as source:
                    tree = compile(source.read(), core.plugin_file, "exec", ONLY_AST, True)
            walk(tree)
        except Exception:  # the file has changed or is gone; then only obvious functions are hooks
            pass
    return bound.get(name, (None, None))


def walk(node):
    """Records the names that top-level statements bind. The last binding of a name counts."""
    kind = type(node).__name__
    if kind in ("FunctionDef", "AsyncFunctionDef", "ClassDef"):
        bound[node.name] = "class" if kind == "ClassDef" else "def", None
    elif kind == "alias":
        bound[node.asname or node.name.partition(".")[0]] = "import", None
    elif kind == "Name" and type(node.ctx).__name__ == "Store":
        bound[node.id] = "value", None
    elif kind != "Lambda":
        for field in node._fields:
            inner = getattr(node, field, None)
            for one in inner if isinstance(inner, list) else [inner]:
                if hasattr(one, "_fields"):
                    walk(one)
        if kind == "Assign":
            value = node.value
            while type(value).__name__ == "Attribute":
                value = value.value
            for target in node.targets:
                if type(target).__name__ == type(value).__name__ == "Name":  # the name on the right decides
                    bound[target.id] = "alias", value.id
