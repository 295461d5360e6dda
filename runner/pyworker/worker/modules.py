"""Which module an unusual file is: in a package, named like another, or a package.

Loaded for such files, for those that put another object in their module's place,
and for every file before Python 3.10, which does not know the names of its own
library.
"""

import os
import sys
from _frozen_importlib_external import PathFinder

import _pyplug_start as start
import _pyplug_worker as core

# Modules of the standard library that do something when imported.
PLAYFUL = ("antigravity", "this")


def load(path):
    """Imports a file, its packages first."""
    if os.path.isdir(path):
        path = os.path.join(path, "__init__.py")
    directory, file = os.path.split(path)
    stem = file[:-3] if file.endswith(".py") else file
    names, files = chain(directory)
    if stem == "__init__" and names:
        directory = os.path.dirname(directory)
    else:
        names.append(stem)
        files.append(path)
    # The directory that the first name is found in.
    root = os.path.dirname(files[0])
    if os.path.basename(files[0]) == "__init__.py" and (len(files) > 1 or stem == "__init__"):
        root = os.path.dirname(root)
    import_namesakes(names[0], names[-1])
    sys.path[:0] = [directory] if root == directory else [directory, root]
    core.plugin_file = path
    start.watch(root)
    names[0] = free_name(names[0])
    return ".".join(names), load_chain(names, files)


def load_named(path, root, name):
    """Imports the module in a file by its name, as python -m does, which looks in root first."""
    top, own = name.partition(".")[0], path.startswith(os.path.join(root, ""))
    if own and (top in sys.modules or in_library(top)):
        return load(path)  # which does not take the other's place
    sys.path.insert(0, root)
    if os.path.isdir(path):
        path = os.path.join(path, "__init__.py")
    core.plugin_file = path if path.endswith(".py") else ""
    if own:
        start.watch(root)
    __import__(name)
    return name, sys.modules[name]


def chain(directory):
    """The packages that a directory is in: their names, and their files."""
    names, files = [], []
    while True:
        above, name = os.path.split(directory)
        file = os.path.join(directory, "__init__.py")
        if not name or not os.path.isfile(file):
            return names, files
        names.insert(0, name)
        files.insert(0, file)
        directory = above
        if "." in name:  # nothing can be above what has no name to be imported by
            return names, files


def import_namesakes(*names):
    """Imports the standard library's modules of these names, while they are found there."""
    for name in names:
        if name not in PLAYFUL and in_library(name):
            try:
                __import__(name)
            except Exception:  # not on this system: then nobody else gets it either
                pass


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


def free_name(name):
    """The name itself, or one that takes nobody's place and can be imported."""
    if "." not in name and name not in sys.modules and not in_library(name):
        return name
    return "_plugin_" + name.replace(".", "_").strip("_")


def load_chain(names, files):
    """Imports each package, then the file. One may have imported the next by itself."""
    parent = None
    for depth, file in enumerate(files, 1):
        name = ".".join(names[:depth])
        module = sys.modules.get(name)
        if module is None:
            module = start.load_file(name, file)
            if parent is not None:
                setattr(parent, names[depth - 1], module)
        parent = module
    return parent


class Attributes:
    """The attributes of an object that has a module's place, looked up as in its dictionary."""

    def __init__(self, value):
        self.value = value

    def __contains__(self, name):
        return self.get(name, self) is not self

    def __getitem__(self, name):
        return self.get(name)

    def __iter__(self):
        try:
            return iter(dir(self.value))
        except BaseException:
            return iter(())

    def get(self, name, default=None):
        try:
            return getattr(self.value, name)
        except BaseException:  # whatever a __getattr__ does
            return default
