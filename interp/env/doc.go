// Package env makes the environment of a plugin from the requirements in the plugin's files.
//
//  1. [NewPlan] looks for the [Source]. A script's source is its PEP 723 block or its lock file
//     p.py.lock. Otherwise it is the first of these files in the nearest directory with one:
//     uv.lock, pylock.toml, pyproject.toml, setup.cfg, requirements.txt. Lock files and settings of
//     uv need uv as the installer. For all others NewPlan chooses uv if uv is on PATH, otherwise
//     pip. It leaves a project of poetry or pdm to that tool.
//  2. The environment is .venv in the directory of the source. If pyplug did not make it, pyplug
//     installs into it only if the user asks for that.
//  3. [Plan.Make] makes .venv in its final place, and installs into it. It removes no package. A
//     marker in .venv lists the sources that it was made for. Make resolves all of them in one
//     command, so that plugins that cannot share the environment cause an error before anything
//     changes. The marker also records an interrupted sync: the next sync completes the
//     environment.
//  4. [Look] reports whether .venv was made for a plugin, and whether the source has changed since.
//
// The package never chooses a Python, never removes a working environment, and never runs the
// plugin.
package env
