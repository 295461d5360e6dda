"""Finds the imports that would fail next, after a module was not found. It runs in the process that did not find it."""

import _ast as ast  # the classes of nodes; importing ast itself takes longer
import os
import sys
import warnings
from _frozen_importlib import ModuleSpec, _find_spec
from _frozen_importlib_external import PathFinder

import _pyplug_start as start
import _pyplug_worker as core

MAX_BYTES = 128 << 10  # Python parses that much in about 40 ms
# Modules imported after one of these words may be found, because the code changes where Python looks for modules, creates
# modules or installs them.
ALTERERS = [
    word.encode()
    for word in "sys.path|sys import|sys.modules|meta_path|path_hooks|__path__|addsitedir|exec(|pip|autoreload|import clr|coconut"
    "|cppyy|findspark|import hy|jpype|macropy|rootutils|pythonnet|pyximport|virtualenv".split("|")
]


class Unsure(Exception):
    """Reports that the next imports cannot be known without running the code."""


def unfound(error):
    """Lists the modules that the plugin's own files import and that Python does not find, in the order of execution.

    error has ended the import of the plugin. The first module is usually the module that error names.
    """
    warnings.simplefilter("ignore")  # Python has already shown the warnings about the source
    look = Look(error.__traceback__)
    try:
        for path in [*look.reached, core.plugin_file]:
            look.walk(path)
    except Exception:  # also an exception of a foreign finder
        pass
    return look.unfound


class Look:
    def __init__(self, trace):
        self.reached = {}  # file → the line that failed
        while trace is not None:
            if trace.tb_frame.f_code.co_name == "<module>":
                self.reached[trace.tb_frame.f_code.co_filename] = trace.tb_lineno
            trace = trace.tb_next
        self.done = set(start.module_files())  # Python has removed the modules whose import failed
        self.bytes = 0
        self.unfound = []

    def walk(self, path):
        """Follows the next imports of a file, unless the file is loaded or not the plugin's own."""
        if path in self.done or not is_own(path):
            return
        self.done.add(path)
        self.bytes += os.path.getsize(path)
        if self.bytes > MAX_BYTES:
            raise Unsure
        with open(path, "rb") as file:
            source = file.read()
        tree = compile(source, path, "exec", ast.PyCF_ONLY_AST, True)
        for node in imports(tree.body, source.splitlines(), self.reached.get(path, 0)):
            if isinstance(node, ast.ImportFrom):
                self.follow(path, node.lineno, node.module or "", node.level, [one.name for one in node.names])
            else:
                for one in node.names:
                    self.follow(path, node.lineno, one.name, 0, [])

    def follow(self, path, line, module, level, names):
        """Follows one import into the plugin's own files."""
        above, inside = path, None
        for _ in range(level):
            above = os.path.dirname(above)
            inside = [above]
        for part in module.split(".") if module else []:
            spec = find(part, inside)
            if spec is None and inside is None:
                longest = module if "." in module else ".".join([module] + names[:1])
                self.unfound.append({"module": longest, "file": path, "line": line})
            if spec is None or spec.has_location and not is_own(spec.origin):
                return
            if spec.has_location:
                self.walk(spec.origin)
            inside = spec.submodule_search_locations or []
        for name in names:
            spec = find(name, inside)
            if spec is not None and spec.has_location:
                self.walk(spec.origin)


def imports(body, lines, reached):
    """Yields the import statements at or after a line that always run and whose errors are not caught."""
    for node in body:
        if node.end_lineno < reached:
            continue
        text = b"\n".join(lines[node.lineno - 1 : node.end_lineno])
        if any(word in text for word in ALTERERS):
            raise Unsure
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            yield node
        elif isinstance(node, ast.Try) and not node.handlers:
            yield from imports(node.body + node.finalbody, lines, reached)


def find(name, inside):
    """Finds a module as an import does. inside has the directories of its package, or is None for a top-level module."""
    if inside is not None:
        return PathFinder.find_spec(name, inside)
    if name in sys.modules:
        return getattr(sys.modules[name], "__spec__", None) or ModuleSpec(name, None)
    return _find_spec(name, None)


def is_own(path):
    """Reports whether a file is source of the plugin. Source of installed packages below the plugin is not."""
    return path.endswith(".py") and start.below and path.startswith(start.below) and not any(part in path for part in start.INSTALLED)
