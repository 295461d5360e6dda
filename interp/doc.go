// Package interp finds the Python for a plugin, and never runs one when files
// can tell.
//
//  1. [Find] reads every requires-python it was handed; when no version can
//     satisfy them all it stops there.
//  2. The explicit sources are looked at first: the flag, PYPLUG_PYTHON, the
//     manifest. The first that is set decides, right or wrong.
//  3. Then the environment beside the plugin, .venv or venv. Once it is there
//     it decides, too: a broken one is an error, never a reason to look on.
//  4. Then VIRTUAL_ENV and PATH. What is broken or of another version there is
//     skipped, and the reason is kept in Tried; of VIRTUAL_ENV in Skipped, too,
//     because its user is to hear of it.
//  5. A candidate is examined by reading files: links, pyvenv.cfg, the names of
//     directories, headers, build-details.json. The shims of pyenv, asdf and
//     mise are followed by reading what they would read, and never run, because
//     running one costs a tenth of a second and may start another Python than
//     the one that was asked for.
//  6. Only when no file tells the version is the Python asked, through the
//     function in [Request.Run].
//  7. An error is given what a hint needs: which versions would do, and which
//     Pythons of this machine are of one, again by reading files alone.
//  8. [Interpreter.Modules] knows where the chosen Python looks for what a
//     script imports: beside the script, in PYTHONPATH, among the installed
//     packages, and where .pth files and editable installs point to.
//  9. [Modules.Walk] follows the imports from a script on: its own files as far
//     as they go, of libraries the surface. [Modules.Glance] goes less far,
//     because every functions file pays for it.
//
// The chosen path is never resolved: Python finds its environment from the path
// it was started by, so a resolved one would lose the environment.
//
// It never knows how a process is started, what the plugin does, or the
// environment of its own process.
package interp
