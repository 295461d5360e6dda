"""Which names of the user's file are hooks, and why another is not.

Loaded when a name is not plainly a function of the file, and to list the hooks.
What a name is bound by stands in the file's source; it is parsed once, by the
compiler that is part of Python, without the ast module.
"""

import _pyplug_worker as core

ONLY_AST = 0x400
FUNCTION = core.FUNCTION
MODULE = type(core)

bound = None  # name → (how it is bound, the first name of what it is an alias for)


def find(number, name):
    """Returns the hook of a name; if there is none, answers so and returns None."""
    function, why = look_up(name)
    if why is None:
        return function
    core.part("errors").refuse(number, "hook", 'no hook "%s"' % name, hooks=names(), **({"why": why} if why else {}))
    return None


def names():
    """The names of all hooks, in the order of the source."""
    chosen = listed()
    candidates = [name for name in (core.namespace if chosen is None else chosen) if isinstance(name, str)]
    return [name for name in dict.fromkeys(candidates) if "." not in name and look_up(name)[1] is None]


def listed():
    """What __all__ has; None without one that is a list."""
    chosen = core.namespace.get("__all__")
    return chosen if isinstance(chosen, (list, tuple)) else None


def look_up(name):
    """Returns (function, None), or (None, why there is no such hook): "" when nothing has that name."""
    first, *rest = name.split(".")
    if first not in core.namespace:
        return None, "`%s` is in `__all__` but not defined" % first if first in (listed() or ()) else ""
    value = core.namespace[first]
    why = not_public(first) or (not_own_object(first, value) if rest else not_a_hook(first, value))
    path = first
    for step in rest:
        if why is not None:
            break
        if step.startswith("_"):
            why = "`%s` is private" % step
            break
        try:
            member = getattr(value, step)
        except BaseException:
            return None, "`%s` has no attribute `%s`" % (path, step)
        path += "." + step
        if isinstance(value, type) and type(member) is FUNCTION and not is_static(value, step):
            why = "`%s` is a method, and `%s` a class, not an object" % (step, first)
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
        return "`%s` is a class" % name
    return None if callable(value) else "`%s` is not callable" % name


def not_a_hook(name, value):
    """Why a public name is no hook; None when it is one."""
    if listed() is not None or type(core.namespace) is not dict:  # somebody chose what is there
        return not_callable(name, value)
    if type(value) is FUNCTION and value.__globals__ is core.namespace:
        return None
    return imported(name, value) or not_callable(name, value)


def not_own_object(name, value):
    """Why no method can be reached through a public name; None when one can."""
    if isinstance(value, MODULE):
        return "`%s` is a module" % name
    return imported(name, value) if type(core.namespace) is dict else None


def imported(name, value):
    """Why what a name stands for is not the file's own; None when it is."""
    how, root = binding(name)
    for _ in range(100):  # a name for somebody's function does not make it ours
        if how != "alias":
            break
        how, root = binding(root)
    if how in ("def", "class", "value") or in_file(value):
        return None
    return "`%s` is imported, not defined here" % name


def in_file(value):
    """Reports whether a value says itself that it was defined in the file, or below the package."""
    try:
        module = value.__module__ + "."
    except BaseException:  # without one, or whatever a __getattr__ does
        return False
    if core.plugin_file.endswith("__init__.py"):
        return module.startswith(core.plugin + ".")
    return module == core.plugin + "." and isinstance(value, (FUNCTION, type))


def is_static(kind, name):
    """Reports whether a function of a class needs no object."""
    for one in kind.__mro__:
        if name in one.__dict__:
            return isinstance(one.__dict__[name], staticmethod)
    return False


def binding(name):
    """How the file binds a name: by def, class, import, as an alias, to another value, or not at all."""
    global bound
    if bound is None:
        bound = {}
        try:
            import warnings

            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                with open(core.plugin_file, "rb") as source:
                    tree = compile(source.read(), core.plugin_file, "exec", ONLY_AST, True)
            walk(tree.body)
        except Exception:  # changed or gone since: then only what is plainly the file's own is a hook
            pass
    return bound.get(name, (None, None))


def walk(statements):
    """Notes what statements of the file's own level bind; the last one counts."""
    for node in statements:
        kind = type(node).__name__
        if kind in ("FunctionDef", "AsyncFunctionDef"):
            bound[node.name] = "def", None
        elif kind == "ClassDef":
            bound[node.name] = "class", None
        elif kind in ("Import", "ImportFrom"):
            for alias in node.names:
                bound[alias.asname or alias.name.partition(".")[0]] = "import", None
        elif kind == "Assign":
            for target in node.targets:
                note(target, node.value)
        elif kind == "AnnAssign" and node.value is not None:
            note(node.target, node.value)
        else:
            for field in ("target", "optional_vars"):
                note(getattr(node, field, None), None)
            for item in getattr(node, "items", ()):
                note(getattr(item, "optional_vars", None), None)
            for field in ("body", "handlers", "cases", "orelse", "finalbody"):
                inner = getattr(node, field, None)
                if isinstance(inner, list):
                    walk(inner)


def note(target, value):
    """Notes an assignment. The right side decides whether it is but another name."""
    kind = type(target).__name__
    if kind == "Name":
        while type(value).__name__ == "Attribute":
            value = value.value
        bound[target.id] = ("alias", value.id) if type(value).__name__ == "Name" else ("value", None)
    elif kind in ("Tuple", "List"):
        for element in target.elts:
            note(element, None)
