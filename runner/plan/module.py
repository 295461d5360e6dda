import os
import sys
from _frozen_importlib import _find_spec

if sys.path[:1] == [""]:
    del sys.path[0]
first, last, module = sys.argv[1:]
sys.path.insert(0, first)
if last:
    sys.path.append(last)
parts, searched = module.split("."), sys.path
spec, path, made = None, None, None
for depth in range(1, len(parts) + 1):
    name = ".".join(parts[:depth])
    spec = None if depth > 1 and path is None else _find_spec(name, path)
    if spec is None:
        break
    path = spec.submodule_search_locations
if spec is None and depth > 1:
    searched = sys.path if path is None else path
    sys.path = [part for part in sys.path if part not in (first, last)]  # so that no code of the plugin runs
    try:  # no finder finds modules such as os.path: the import of their parent creates them
        __import__(module)
        made = sys.modules[module]
    except BaseException:
        pass
file = getattr(made, "__file__", None)
if spec is not None:
    file = spec.origin if spec.has_location else getattr(spec.loader_state, "filename", None)
if spec is None and made is None:
    answer = ["", name, *searched]
elif file and os.path.basename(file) == "__init__.py":
    answer = ["package", os.path.dirname(file)]
elif file:
    answer = ["file", file]
else:
    answer = ["built-in" if made or path is None else "namespace", ""]
os.write(1, b"\x1epyplug " + b"\0".join(map(os.fsencode, answer)) + b"\x1e")
