import os
import sys
from _frozen_importlib import _find_spec

if sys.path[:1] == [""]:
    del sys.path[0]
sys.path.insert(0, sys.argv[1])
parts = sys.argv[2].split(".")
spec, path = None, None
for depth in range(1, len(parts) + 1):
    name = ".".join(parts[:depth])
    spec = None if depth > 1 and path is None else _find_spec(name, path)
    if spec is None:
        break
    path = spec.submodule_search_locations
file = None
if spec is not None:
    file = spec.origin if spec.has_location else getattr(spec.loader_state, "filename", None)
if spec is None:
    answer = ["", name, *(sys.path if path is None else path)]
elif file and os.path.basename(file) == "__init__.py":
    answer = ["package", os.path.dirname(file)]
elif file:
    answer = ["file", file]
else:
    answer = ["built-in" if path is None else "namespace", ""]
os.write(1, b"\x1epyplug-module " + b"\0".join(map(os.fsencode, answer)))
