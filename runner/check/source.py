"""Compiles files and looks for modules, and runs neither.

Each argument is one thing, by its first character: "<" a directory in which Python looks
before its standard library, ">" one in which it looks afterwards, "f" a file to compile, "n" a
module with the names that are taken out of it, such as "nos:path,sep", and "r" one that is
relative to a directory, such as "rpart.of::/the/directory". An answer is a line of JSON with
the number of its argument; what is as it should be gets none. The last line says that all
was done. It has no import of the json module, which takes longer than the rest.
"""

import sys

if sys.path[:1] == [""]:  # the working directory: nothing of it is to run
    del sys.path[0]

try:
    from _json import encode_basestring_ascii as quote
except ImportError:
    from json import dumps as quote

LONGEST = 1000  # characters of a message, and of a line of source
finders = {}


def main(words):
    before = [word[1:] for word in words if word[0] == "<"]
    after = [word[1:] for word in words if word[0] == ">"]
    path = before + [entry for entry in sys.path if entry] + after
    for number, word in enumerate(words):
        if word[0] == "f":
            compile_file(number, word[1:])
        elif word[0] == "n":
            module, _, names = word[1:].partition(":")
            look_for(number, module, names, path, None)
        elif word[0] == "r":
            module, _, rest = word[1:].partition(":")
            names, _, directory = rest.partition(":")
            look_for(number, module, names, [directory], directory)
    sys.stdout.write('{"done": true}\n')


def say(number, **values):
    values["number"] = number
    told = ['"%s": %s' % (key, quote(value) if isinstance(value, str) else value) for key, value in values.items()]
    sys.stdout.write("{" + ", ".join(told) + "}\n")


def compile_file(number, path):
    try:
        with open(path, "rb") as file:
            source = file.read()
    except OSError:
        return
    try:
        compile(source, path, "exec", dont_inherit=True)
    except SyntaxError as error:
        text = str(error.text or "").rstrip()
        column = error.offset or 0
        if len(text) > LONGEST:
            text, column = "", 0
        say(
            number,
            type=type(error).__name__,
            message=str(error.msg)[:LONGEST],
            line=error.lineno or line_of_zero(source),
            text=text,
            column=max(column, 0),
        )
    except (ValueError, OverflowError, RecursionError, MemoryError) as error:
        say(number, type=type(error).__name__, message=str(error)[:LONGEST], line=line_of_zero(source))


def line_of_zero(source):
    """The line of the first null byte, of which Python does not say where it is; 0 without one."""
    zero = source.find(b"\0")
    return source.count(b"\n", 0, zero) + 1 if zero >= 0 else 0


def look_for(number, module, names, path, directory):
    """Says which part of a dotted name is not there, and what it would be part of."""
    try:
        kind, where, inside = ("package", directory, path) if directory else ("", "", path)
        full = ""
        for part in module.split("."):
            full = full + "." + part if full else part
            found = find(full, inside, top=not directory and full == part)
            if found is None:
                say(number, missing=full, parent=kind, where=where)
                return
            kind, where, inside = found
            if kind == "opaque":
                return
        if kind != "namespace":
            return  # what it holds is known to those who run it
        for name in filter(None, names.split(",")):
            if find(full + "." + name, inside, False) is None:
                say(number, missing=full + "." + name, parent=kind, where=where)
                return
    except Exception:  # of a finder of somebody else: nothing can be told
        return


def find(full, path, top):
    """The kind of a module, where it is, and where its parts are; None when it is nowhere."""
    module = sys.modules.get(full)
    if module is not None:
        inside = getattr(module, "__path__", None)
        where = getattr(module, "__file__", None)
        if inside is None:
            return "module", where or "", []
        return "package" if where else "namespace", where or "", list(inside)
    if not top:
        return search(full, path)
    for finder in sys.meta_path:
        if getattr(finder, "__name__", "") == "PathFinder":
            found = search(full, path)
            if found is not None:
                return found
        elif hasattr(finder, "find_spec") and finder.find_spec(full, None) is not None:
            return "opaque", "", []
    return None


def search(full, path):
    """What importlib's PathFinder does, which wants packages to be loaded before their parts."""
    portions = []
    for entry in path:
        finder = finder_of(entry)
        if finder is None:
            continue
        if not hasattr(finder, "find_spec"):  # zipimport before 3.10
            if finder.find_module(full) is not None:
                return "opaque", "", []
            continue
        spec = finder.find_spec(full)
        if spec is None:
            continue
        inside = spec.submodule_search_locations
        if spec.loader is not None:
            return "module" if inside is None else "package", spec.origin or "", list(inside or [])
        portions.extend(inside or [])
    return ("namespace", "", portions) if portions else None


def finder_of(entry):
    if entry not in finders:
        finders[entry] = None
        for hook in sys.path_hooks:
            try:
                finders[entry] = hook(entry)
                break
            except ImportError:
                pass
    return finders[entry]


main(sys.argv[1:])
