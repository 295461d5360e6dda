// Package env makes the environment of a plugin from what the plugin's files ask for, and
// finds it again.
//
//  1. [NewPlan] looks for the [Source]: a PEP 723 block in the script, or its lock file
//     p.py.lock; else, in the nearest directory that has one, uv.lock, poetry.lock, pdm.lock,
//     pylock.toml, the dependencies of pyproject.toml, those of setup.cfg, requirements.txt. It chooses the
//     installer: a lock file needs the tool that wrote it, and settings of uv that say where
//     packages come from need uv; the rest is for uv if it is on PATH, else for pip.
//  2. The key is the hash of what the source asks for, the base Python and the installer, and
//     of the directory if the source may name something in it. Plugins with the same key
//     share an environment in the user's cache; with InPlace it is .venv beside the source.
//  3. [Plan.Make] takes a lock, builds in a directory of its own beside the place, and renames.
//     What fails, is interrupted or killed leaves no environment there; what a killed one left of
//     its directory is removed by the next.
//  4. A record in the cache maps the plugin's path to its environment. [Lookup] reads it. If
//     the source has changed since, it says so.
//
// It never chooses a Python, never writes into one that it did not make, and never runs the
// plugin.
package env
