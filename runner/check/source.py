"""Checks a plugin's own source without running it.

Arguments: the words of the plugin's place, see Place in ../../interp/pysrc, then the scripts that Python runs.
It compiles the scripts and the plugin's own files that they import, looks for what these
import, and compares the versions that generated code needs with those that are installed.
The answer is one line of JSON behind MARK, because code that site runs may print, too. The
program continues in syntax.py and in the worker's paths.py. A last line calls main.
"""

import sys

if sys.path[:1] == [""]:  # the working directory: no code in it may run
    del sys.path[0]
LOADED = dict(sys.modules)  # what every start of this Python loads

import _ast as ast  # the nodes of ast; ast itself, json and re take longer than the rest
import os
import warnings
from _frozen_importlib_external import PathFinder  # of importlib.machinery

try:
    from _json import encode_basestring_ascii as quote
except ImportError:
    from json import dumps as quote

MARK = "\036pyplug-source "
MOST_FILES = 1000
MOST_BYTES = 32 << 20
MOST_FAULTS = 200  # of one sort in the answer
LARGEST_FILE = 4 << 20
LARGEST_GENERATED = 256 << 10  # of generated code that is compiled: nobody edits it

# Names in a package's __init__.py that may define any other name.
DEFINERS = ("*", "__getattr__", "globals", "locals", "vars", "exec", "setattr", "sys.modules")


def main(place, scripts):
    warnings.simplefilter("ignore")
    look = Look(place, scripts)
    look.read_all()
    clashes = protobuf_clashes(look.generated) + grpc_clashes(look.generated)
    answer = {
        "files": look.compiled, "imports": len(look.imports), "found": len(look.imports) - len(look.unfound),
        "altered": look.altered,
        "syntax": look.syntax[:MOST_FAULTS], "missing": list(look.missing.values())[:MOST_FAULTS], "clashes": clashes,
    }  # fmt: skip
    sys.stdout.write("\n" + MARK + json(answer) + "\n")


def json(value):
    """Writes dicts, lists, texts, numbers and booleans as JSON."""
    if isinstance(value, dict):
        return "{" + ",".join(quote(key) + ":" + json(item) for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(json, value)) + "]"
    return quote(value) if isinstance(value, str) else str(value).lower()


class Found:
    """A module: its file, the directories of its submodules (None if it is no package), whether it is a namespace."""

    def __init__(self, file, inside, namespace=False):
        self.file, self.inside, self.namespace = file or "", inside, namespace


class Look:
    def __init__(self, place, scripts):
        _, _, self.root, first, behind, last = place
        self.path = search_path(sys.path, first, behind, last)
        self.scripts = scripts
        self.hard = list(scripts)  # files to read without which the plugin cannot be loaded
        self.soft = []  # and the others
        self.read_files = set()
        self.bytes = 0
        self.compiled = 0
        self.altered = False
        self.syntax = []
        self.imports = set()
        self.unfound = set()
        self.missing = {}
        self.generated = []  # path, text, hard

    def read_all(self):
        while self.hard or self.soft:
            hard = bool(self.hard)
            path = (self.hard or self.soft).pop(0)
            if path not in self.read_files and len(self.read_files) < MOST_FILES:
                self.read_files.add(path)
                self.read(path, hard)

    def owns(self, path):
        if path in self.scripts:
            return True
        inside = os.path.normcase(path).startswith(os.path.join(os.path.normcase(self.root), ""))
        return inside and not {"site-packages", "dist-packages"} & set(path[len(self.root) :].split(os.sep))

    def read(self, path, hard):
        source = read_bytes(path, MOST_BYTES - self.bytes)
        if source is None:
            return
        self.bytes += len(source)
        own = self.owns(path)
        if is_generated(path):
            self.generated.append((path, source.decode("utf-8", "replace"), hard))
            if len(source) > LARGEST_GENERATED:
                return
        if own:
            self.compiled += 1
            wrong = syntax_error(source, path)
            if wrong is not None:
                self.compiled -= 1
                self.syntax.append(dict(wrong, file=path, hard=hard))
                source = b"\n".join(source.split(b"\n")[: max(0, wrong["line"] - 1)])
        try:
            tree = compile(source, path, "exec", ast.PyCF_ONLY_AST, True)
        except (SyntaxError, ValueError, OverflowError, RecursionError, MemoryError):
            return
        if own and not self.altered and any(word in source for word in MAY_ALTER):
            self.altered = alters(tree)
        for statement in statements(tree.body, hard=hard):
            self.follow(path, own, *statement)

    def push(self, path, hard):
        if path.endswith(".py") and (self.owns(path) or is_generated(path)):
            (self.hard if hard else self.soft).append(path)

    def follow(self, path, own, line, module, level, names, hard, guarded):
        """Queues the files that an import loads, and records the modules that are missing."""
        directory = ""
        if level:
            directory = os.path.dirname(path)
            for _ in range(level - 1):
                directory = os.path.dirname(directory)
            self.push(os.path.join(directory, "__init__.py"), hard)
        missing = self.resolve(path, directory, module, names, hard)
        if not own or guarded:
            return
        key = (directory, module, tuple(names))
        self.imports.add(key)
        if not missing:
            return
        self.unfound.add(key)
        if directory and not os.path.isfile(os.path.join(directory, "__init__.py")):
            hard = False  # the other parts of a namespace may be anywhere
        for name, where in missing:
            known = self.missing.get((directory, name))
            if known is None or hard and not known["hard"]:
                longest = name if len(name) > len(module) else ".".join([module] + names[:1])
                self.missing[directory, name] = {
                    "module": longest, "missing": name, "where": where, "dir": directory, "file": path, "line": line,
                    "hard": hard,
                }  # fmt: skip

    def resolve(self, path, directory, module, names, hard):
        """Returns the missing modules of an import in path: dotted names, each with the file of the package above."""
        found = Found(os.path.join(directory, "__init__.py"), [directory]) if directory else None
        full = ""
        for part in module.split(".") if module else []:
            above = found
            full = full + "." + part if full else part
            found = self.find(part, above.inside if above else None)
            if found is None:
                return [(full, above.file if above and full != part else "")] if self.is_certain(above, directory) else []
            self.push(found.file, hard)
            if not (found.namespace or self.owns(found.file) or any(map(is_generated, (module, *names)))):
                return []  # what a library makes when it is imported is unknown
            if found.inside is None:
                found.inside = []
        init = read_text(found.file)
        missing = []
        for name in names:
            if name == "*" or name.startswith("__"):
                continue
            part = self.find(name, found.inside) if found.inside else None
            defined = not found.namespace and any(word in init for word in (name,) + DEFINERS)
            if part is not None:
                self.push(part.file, hard and (not defined or found.file == path))  # in __init__.py, its own import has the name
            elif found.namespace:
                return [(full + "." + name if full else name, "")]
            elif directory and not module and not defined:
                missing.append((name, ""))
        return missing

    def is_certain(self, above, directory):
        """Whether a module that is missing in the package above cannot come from elsewhere."""
        return above is None or above.namespace or bool(directory) or above.file.endswith(".py") and self.owns(above.file)

    def find(self, name, inside):
        """Finds a module in the directories of its package, or a top-level module if inside is None."""
        if inside is not None:
            return found_of(find_spec(PathFinder, name, inside))
        if name in LOADED:
            module = LOADED[name]
            path = getattr(module, "__path__", None)
            file = getattr(module, "__file__", None)
            return Found(file, None if path is None else list(path), path is not None and not file)
        for finder in sys.meta_path:
            path = self.path if finder is PathFinder else None
            spec = find_spec(finder, name, path)
            if spec is not None:
                return found_of(spec)
        return None


def find_spec(finder, name, path):
    try:
        return finder.find_spec(name, path)
    except Exception:  # a foreign finder may raise anything
        return None


def found_of(spec):
    if spec is None:
        return None
    inside = spec.submodule_search_locations
    return Found(spec.origin, None if inside is None else list(inside), spec.loader is None)


def is_generated(name):
    """Whether the name of a file or module is one that protoc generates."""
    return name.endswith(("_pb2", "_pb2_grpc", "_pb2.py", "_pb2_grpc.py"))


def read_bytes(path, limit=LARGEST_FILE):
    try:
        if not os.path.isfile(path) or os.path.getsize(path) > min(limit, LARGEST_FILE):
            return None
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return None


def read_text(path):
    return (read_bytes(path) or b"").decode("utf-8", "replace") if path.endswith(".py") else ""


def numbers(version):
    import re

    return [int(n) for n in re.findall(r"\d+", version)[:3]]


def clash(clashes, id, library, path, hard, wants, has, needs):
    """Adds a generated file that a library rejects. Files of the same version share one entry."""
    for known in clashes:
        if (known["wants"], known["hard"]) == (wants, hard):
            known["more"] += 1
            return
    why = "the generated code is too old for the library" if id.endswith("new") else "the library is older than the generated code"
    clashes.append({
        "id": id, "library": library, "file": path, "more": 0, "wants": wants, "has": has, "why": why, "needs": needs,
        "hard": hard,
    })  # fmt: skip


def makes_descriptors():
    """Whether the installed protobuf, version 4 or later, lets code make descriptors. Its C implementation does not."""
    try:
        from google.protobuf.descriptor import _USE_C_DESCRIPTORS
    except Exception:
        return True
    return not _USE_C_DESCRIPTORS


def protobuf_clashes(generated):
    """Returns the *_pb2.py files that the installed protobuf rejects. If it can check them itself, it decides."""
    generated = [(path, text, hard) for path, text, hard in generated if path.endswith("_pb2.py")]
    if not generated:
        return []
    try:
        from google import protobuf
    except Exception:  # none, or a broken one: the missing import says so
        return []
    try:
        from google.protobuf import runtime_version
    except Exception:  # it is older than 5.27
        runtime_version = None
    import re

    stated = re.compile(
        r"ValidateProtobufRuntimeVersion\(\s*_runtime_version\.Domain\.PUBLIC,\s*(\d+),\s*(\d+),\s*(\d+),\s*'([^']*)'"
    )
    has = getattr(protobuf, "__version__", "")
    found = []
    for path, text, hard in generated:
        match = stated.search(text)
        if match is None:  # older code; that of protoc before 3.19 makes descriptors by itself
            if re.search(r"_descriptor\.(?!File)\w*Descriptor\(", text) and numbers(has) >= [4] and not makes_descriptors():
                clash(found, "protobuf-too-new", "protobuf", path, hard, "3.18 or older", has, "protobuf<4")
            continue
        major, minor, patch, suffix = match.groups()
        if runtime_version is not None:
            try:
                runtime_version.ValidateProtobufRuntimeVersion(
                    runtime_version.Domain.PUBLIC, int(major), int(minor), int(patch), suffix, os.path.basename(path)
                )
                continue
            except runtime_version.VersionError:
                pass
            except Exception:
                continue
        wants = "%s.%s.%s%s" % (major, minor, patch, suffix)
        id = "protobuf-too-old" if numbers(has) <= numbers(wants) else "protobuf-too-new"
        clash(found, id, "protobuf", path, hard, wants, has, "protobuf>=%s,<%d" % (wants, int(major) + 2))
    return found


def grpc_clashes(generated):
    """The *_pb2_grpc.py files that need a newer grpcio. Those generated before 1.65 only warn."""
    found = []
    for path, text, hard in generated:
        _, stated, rest = text.partition("\nGRPC_GENERATED_VERSION = '")
        if not (path.endswith("_pb2_grpc.py") and stated and "raise RuntimeError(" in text):
            continue
        wants = rest.partition("'")[0]
        from importlib.metadata import PackageNotFoundError, version

        try:
            has = version("grpcio")
        except PackageNotFoundError:
            return []
        if numbers(has) < numbers(wants):
            clash(found, "grpcio-too-old", "grpcio", path, hard, wants, has, "grpcio>=" + wants)
    return found
