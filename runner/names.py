"""Prints the hooks of a file as far as its source shows them, as JSON: name, documentation, parameters,
and a JSON Schema of the arguments that has the names and the choices.

It does not run the file.
"""

import ast
import json
import sys

DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def statements(body):
    """Yields the statements of a module or a class, including those under a condition."""
    for node in body:
        yield node
        for field in ("body", "orelse", "handlers", "finalbody"):
            if not isinstance(node, DEFINITIONS + (ast.ClassDef,)):
                yield from statements(getattr(node, field, None) or [])


def public(body):
    return [node for node in statements(body) if isinstance(node, DEFINITIONS) and not node.name.startswith("_")]


def made_without_arguments(kind):
    """Reports whether an object of a class can be made without arguments, as far as the class shows."""
    for node in kind.body:
        if isinstance(node, DEFINITIONS) and node.name == "__init__":
            required = len(node.args.args) - 1 - len(node.args.defaults)
            return required <= 0 and None not in node.args.kw_defaults
    return not kind.decorator_list and all(isinstance(base, ast.Name) and base.id == "object" for base in kind.bases)


def methods(kind, made):
    for node in public(kind.body):
        names = [one.id for one in node.decorator_list if isinstance(one, ast.Name)]
        if made or "staticmethod" in names or "classmethod" in names:
            yield node


def hooks(tree, package):
    found = {}
    classes = {node.name: node for node in statements(tree.body) if isinstance(node, ast.ClassDef)}
    listed = None
    for node in statements(tree.body):
        if isinstance(node, DEFINITIONS):
            found[node.name] = node, 0
        elif isinstance(node, ast.ClassDef):
            for method in methods(node, made_without_arguments(node)):
                found[node.name + "." + method.name] = method, bound(method)
        elif isinstance(node, ast.ImportFrom) and node.level and package:
            found.update((alias.asname or alias.name, None) for alias in node.names if alias.name.islower())
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            name, value = node.targets[0].id, node.value
            if name == "__all__":
                try:
                    listed = [str(one) for one in ast.literal_eval(value)]
                except (TypeError, ValueError):
                    listed = None
            elif isinstance(value, ast.Lambda):
                found[name] = None
            elif isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id in classes:
                for method in methods(classes[value.func.id], True):
                    found[name + "." + method.name] = method, bound(method)
    if listed is not None:
        roots = [name for name in found if name.partition(".")[0] in listed]
        # An imported name with a capital first letter is a class, not a hook.
        names = [name for name in listed + roots if name in found or not (name in classes or name[:1].isupper())]
    else:
        names = [name for name in found if not name.startswith("_")]
    return [described(name, found.get(name), classes) for name in dict.fromkeys(names)]


def bound(method):
    """Returns the number of parameters that Python passes to a method itself, such as self."""
    return 0 if any(isinstance(one, ast.Name) and one.id == "staticmethod" for one in method.decorator_list) else 1


def described(name, found, classes):
    """Describes a hook. found is None for an import or a lambda, whose parameters the source does not show."""
    if found is None:
        return {"name": name, "input_schema": {"type": "object"}}
    node, skip = found
    takes = node.args
    kinds = [(one, "position") for one in takes.posonlyargs] + [(one, "ordinary") for one in takes.args]
    kinds = kinds[skip:] + [(one, "name") for one in takes.kwonlyargs]
    params = [parameter(one.arg, kind, one.annotation, classes) for one, kind in kinds]
    defaults = dict(zip([one.arg for one in reversed(takes.posonlyargs + takes.args)], reversed(takes.defaults)))
    defaults.update(zip([one.arg for one in takes.kwonlyargs], takes.kw_defaults))
    for param in params:
        default = defaults.get(param["name"])
        if not param["type"] and isinstance(default, ast.Constant) and isinstance(default.value, bool):
            param.update(type="bool", flag=param["kind"] != "position")
    doc = (ast.get_docstring(node) or "").partition("\n")[0].strip()
    messages = {}
    collect(params, classes, messages)
    arguments = schema(takes, params)
    if takes.kwarg:
        params.append({"name": takes.kwarg.arg, "kind": "names"})
    return {"name": name, "doc": doc, "params": params, "messages": list(messages.values()), "input_schema": arguments}


def parameter(name, kind, note, classes):
    """Describes a parameter, or a field of a class."""
    found = {"name": name, "kind": kind, "type": ast.unparse(note) if note else ""}
    if note:
        notes = members(note)
        found["choices"] = choices(note, classes)
        found["flag"] = kind != "position" and [getattr(one, "id", "") for one in notes] == ["bool"]
        objects = [one.id for one in notes if isinstance(one, ast.Name) and fields(classes.get(one.id))]
        if objects and kind != "position":
            found["message"] = objects[0]
    return found


def fields(kind):
    """Returns the annotated names of a class whose objects have fields, or an empty list."""
    marks = [getattr(one, "func", one) for one in kind.decorator_list] + kind.bases if kind else []
    names = [getattr(one, "id", getattr(one, "attr", "")) for one in marks]
    if not any(name in ("dataclass", "TypedDict", "NamedTuple", "BaseModel") for name in names):
        return []
    return [node for node in kind.body if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)]


def collect(params, classes, messages):
    """Adds the classes of parameters to messages: name → description."""
    for name in [one["message"] for one in params if "message" in one]:
        if name not in messages:
            found = messages[name] = {"name": name}
            found["fields"] = [parameter(one.target.id, "name", one.annotation, classes) for one in fields(classes[name])]
            collect(found["fields"], classes, messages)


def schema(takes, params):
    properties = {one["name"]: {"enum": one["choices"]} if one.get("choices") else {} for one in params}
    if takes.vararg:
        properties[takes.vararg.arg] = {"type": "array"}
    return {"additionalProperties": takes.kwarg is not None, "properties": properties, "type": "object"}


def choices(note, classes):
    """Returns the values that an annotation lists, as far as the source shows, or an empty list."""
    found = [listed(one, classes) for one in members(note)]
    return sum(found, []) if all(found) else []


def members(note):
    """Returns the types that an annotation allows, except None."""
    if isinstance(note, ast.Constant) and isinstance(note.value, str):
        try:
            return members(ast.parse(note.value, mode="eval").body)
        except SyntaxError:
            return [note]
    if isinstance(note, ast.Constant) and note.value is None:
        return []
    if isinstance(note, ast.BinOp):  # X | None
        return members(note.left) + members(note.right)
    name, inner = parts(note)
    if name in ("Annotated", "Final"):
        inner = inner[:1]
    elif name not in ("Optional", "Union"):
        return [note]
    return [member for one in inner for member in members(one)]


def parts(note):
    """Returns the name and the arguments of an annotation with brackets, or "" and an empty list."""
    if not isinstance(note, ast.Subscript):
        return "", []
    inner = getattr(note.slice, "value", note.slice) if type(note.slice).__name__ == "Index" else note.slice
    return getattr(note.value, "id", getattr(note.value, "attr", "")), inner.elts if isinstance(inner, ast.Tuple) else [inner]


def listed(note, classes):
    """Returns the values of an enum or a Literal, or an empty list."""
    if isinstance(note, ast.Name) and note.id in classes:
        return enumerated(classes[note.id])
    name, inner = parts(note)
    return [one.value for one in inner if isinstance(one, ast.Constant) and plain(one.value)] if name == "Literal" else []


def enumerated(kind):
    """Returns the values of an enum, or an empty list. The name of a member replaces a value that is not plain."""
    if not any(getattr(base, "id", getattr(base, "attr", "")).endswith("Enum") for base in kind.bases):
        return []
    found = []
    for node in kind.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and not node.targets[0].id.startswith("_"):
            value = getattr(node.value, "value", None)
            found.append(value if isinstance(node.value, ast.Constant) and plain(value) else node.targets[0].id)
    return found


def plain(value):
    return isinstance(value, (str, int, float)) and value != float("inf")  # such as 1e999, which is not JSON


with open(sys.argv[1], "rb") as file:
    source = ast.parse(file.read())
found = hooks(source, sys.argv[1].endswith("__init__.py"))
print("\x1epyplug " + json.dumps(found, separators=(",", ":")) + "\x1e")
