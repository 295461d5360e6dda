"""Compares two ways to import a file: by its full name, as Python does, and by its place, as the worker does.

It imports all files by name in one process, and each file by its place in a process of its own.

Arguments: the directory of the worker's source, and a file with a line for each file to import: its full
name and the words of its place, separated by tabs. For each file whose results differ, it prints both
results. At the end it prints how many files agree, and the number of files.
"""

import os
import signal
import sys

SOURCES, LIST = sys.argv[1:]
LIMIT = 240  # seconds for all imports by their names, and for one by its place
del sys.path[0]


def part(name):
    full = "_pyplug_" + name
    if full not in sys.modules:
        module = sys.modules[full] = type(sys)(full)
        path = os.path.join(SOURCES, name + ".py")
        with open(path, encoding="utf-8") as file:
            exec(compile(file.read(), "<pyplug %s>" % name, "exec"), module.__dict__)
    return sys.modules[full]


def real(name):
    __import__(name)
    return sys.modules[name]


def placed(*words):
    found, module = part("modules").load(*words)
    assert sys.modules[found] is module
    return module


def result(way, *args):
    """Returns the result of an import: the module's public names except modules, or the type of the exception."""
    try:
        found = dict(vars(way(*args)))
        return " ".join(sorted(name for name in found if name[0] != "_" and not isinstance(found[name], type(sys))))
    except BaseException as error:
        return "raises " + type(error).__name__


def forked(way, all_args):
    """Imports in a child process in the given way, and returns the results."""
    ours, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(LIMIT)
        null = os.open(os.devnull, os.O_RDWR)
        for descriptor in range(3):
            os.dup2(null, descriptor)
        with open(theirs, "wb", closefd=False) as file:
            file.write("\n".join([result(way, *args) for args in all_args]).encode("utf-8", "replace"))
        os._exit(0)
    os.close(theirs)
    with open(ours, "rb") as file:
        lines = file.read().decode().split("\n")
    os.waitpid(child, 0)
    return lines


core = part("worker")
core.part = part
part("start"), part("modules")  # a worker loads them before the file, too
with open(LIST, encoding="utf-8") as file:
    lines = [line.split("\t") for line in file.read().splitlines()]
agree = 0
for (name, *words), one in zip(lines, forked(real, [line[:1] for line in lines])):
    [other] = forked(placed, [words])
    agree += one == other
    if one != other:
        print("%s (%s): import: %s; pyplug: %s" % (name, words[1], one[:300], other[:300]))
print(agree, len(lines))
