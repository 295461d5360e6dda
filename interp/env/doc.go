// Package env makes the environment of a plugin from what the plugin's files ask for.
//
//  1. [NewPlan] looks for the [Source]: a PEP 723 block in the script, or its lock file
//     p.py.lock; else, in the nearest directory that has one, uv.lock, pylock.toml, the
//     dependencies of pyproject.toml, those of setup.cfg, requirements.txt. It chooses the
//     installer: a lock file and settings of uv need uv; the rest is for uv if it is on PATH,
//     else for pip. A project of poetry or pdm is for its own tool.
//  2. The environment is .venv in the directory of the source. One that pyplug did not make is
//     completed only if the user asks for it.
//  3. [Plan.Make] makes .venv where it is used, and installs into it. It removes no package.
//     A marker in .venv lists the sources that it was made for. All of them are resolved in
//     one command, so that plugins that cannot share the environment are an error, and nothing
//     is changed. The marker also says whether the last sync was interrupted: the next one
//     completes the environment.
//  4. [Look] tells a start whether .venv is for its plugin, and whether the source has changed
//     since.
//
// It never chooses a Python, never removes an environment that worked, and never runs the plugin.
package env
