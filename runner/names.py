"""Prints the hooks of a file, as far as its source shows them: a name, a tab and its first line of documentation.

It does not run the file.
"""

import ast
import sys

DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def statements(body):
    """What a module or a class binds, also under a condition."""
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
            found[node.name] = ast.get_docstring(node)
        elif isinstance(node, ast.ClassDef):
            for method in methods(node, made_without_arguments(node)):
                found[node.name + "." + method.name] = ast.get_docstring(method)
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
                    found[name + "." + method.name] = ast.get_docstring(method)
    if listed is not None:
        roots = [name for name in found if name.partition(".")[0] in listed]
        # What is imported under the name of a class is one.
        return {name: found.get(name) for name in listed + roots if name in found or not (name in classes or name[:1].isupper())}
    return {name: doc for name, doc in found.items() if not name.startswith("_")}


with open(sys.argv[1], "rb") as file:
    source = ast.parse(file.read())
for name, doc in hooks(source, sys.argv[1].endswith("__init__.py")).items():
    sys.stdout.buffer.write(("%s\t%s\n" % (name, (doc or "").partition("\n")[0].strip())).encode("utf-8", "replace"))
