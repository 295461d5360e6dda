"""Imports the user's file as a module: a script, a module of a package, a module whose name is taken, or a package."""

import os
import sys
from _frozen_importlib import ModuleSpec, _load
from _frozen_importlib_external import PathFinder, SourceFileLoader, spec_from_file_location
from time import time

import _pyplug_start as start
import _pyplug_worker as core

keep = SourceFileLoader.set_data


def load(name, path, root, first, behind, last):
    """Imports a file at its place, see Place in ../../../interp/pysrc. Returns its name and module."""
    names, files = chain(path, name)
    if root and in_library(names[0]):
        try:
            __import__(names[0])  # before the file hides the library's module
        except Exception:  # this system does not have the module
            pass
    sys.path[:] = search_path(sys.path, first, behind, last)
    core.plugin_file = path
    if not root:  # a module that Python finds by its name
        __import__(name)
        return name, sys.modules[name]
    start.below = os.path.join(root, "")
    SourceFileLoader.set_data = keep_old
    names[0] = free_name(names[0], files[0])
    return ".".join(names), load_chain(names, files)


def search_path(path, first, behind, last):
    """Returns path with the directories first at the start, behind after the standard library, and last at the end. It omits ""."""
    library = os.path.dirname(os.__file__)
    parts = (library, os.path.join(library, "lib-dynload"))
    after = max((at for at, part in enumerate(path, 1) if part in parts), default=0)
    found = [first, *path[:after], behind, *path[after:], last]
    return list(dict.fromkeys(part for part in found if part))


def keep_old(self, path, data, **keywords):
    """Stores the byte code of a file, unless the file is new: Python would miss a second change in the same second."""
    try:
        changed = os.stat(self.path).st_mtime
    except (OSError, AttributeError):  # a loader of the plugin, whose modules need not be files
        changed = 0
    if time() - changed > 2:
        keep(self, path, data, **keywords)


def chain(path, name):
    """Returns the names of a file's packages and of the file itself, and the files of all. A script has no packages."""
    above, file = os.path.split(path)
    if not name:
        return [file[:-3] if file.endswith(".py") else file], [path]
    names = name.split(".")
    files = [path]
    if file == "__init__.py":
        above = os.path.dirname(above)
    while len(files) < len(names):
        files.insert(0, os.path.join(above, "__init__.py"))
        above = os.path.dirname(above)
    return names, files


def in_library(name):
    """Reports whether the standard library has a module of this name."""
    known = getattr(sys, "stdlib_module_names", None)
    if known is not None:
        return name in known
    if name in sys.builtin_module_names:
        return True
    library = os.path.dirname(os.__file__)
    spec = PathFinder.find_spec(name, [library, os.path.join(library, "lib-dynload")])
    return spec is not None and spec.loader is not None and name != "test"


def free_name(name, file):
    """Returns the name if it is free, or else another name that is free and can be imported."""
    taken = sys.modules.get(name)
    if taken is not None:  # perhaps by this same file, or by another part of a namespace package
        place = getattr(taken, "__file__", None)
        if place == file or place is None and hasattr(taken, "__path__") and not os.path.isfile(file):
            return name
    elif "." not in name and not in_library(name):
        return name
    return "_plugin_" + name.replace(".", "_").strip("_")


def load_chain(names, files):
    """Imports each package, then the file. A package may already have imported the next module."""
    parent = None
    for depth, file in enumerate(files, 1):
        name = ".".join(names[:depth])
        module = sys.modules.get(name)
        if module is None:
            if depth == len(files) or os.path.isfile(file):
                module = _load(spec_from_file_location(name, file, loader=SourceFileLoader(name, file)))
            else:
                module = load_namespace(name, parent, os.path.dirname(file))
            if parent is not None:
                setattr(parent, names[depth - 1], module)
        parent = module
    return parent


def load_namespace(name, parent, directory):
    """Imports a directory without __init__.py, and the other directories that Python finds by the same name."""
    spec = PathFinder.find_spec(name, parent and list(parent.__path__))
    if spec is None or spec.has_location:  # another module has the name, or the directory has another name
        spec = ModuleSpec(name, None, is_package=True)
        spec.submodule_search_locations = [directory]
    return _load(spec)
