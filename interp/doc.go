// Package interp finds the Python for a plugin. It reads files, and runs a Python only if they do
// not say its version.
//
//  1. [Find] reads every requires-python of the request. The Python must satisfy all of them.
//  2. The explicit sources come first: the flag, PYPLUG_PYTHON, the manifest. The first
//     that is set decides, even if its Python cannot be used.
//  3. Next is the plugin's own environment. Find looks in the plugin's directory and in those
//     above it, up to the root of the project. It ignores an environment that pyplug made for
//     other plugins. If the plugin has an environment, that decides, too: a broken one is an
//     error, and the search ends. An activated environment of the project takes precedence over
//     it. Find rejects environments that untrusted users can modify.
//  4. Then come any other activated environment, the version that a file of the project
//     pins or the plugin's #! line names, PATH, version managers and the system. Find skips
//     a Python there that is broken or has another version, and [Interpreter.Tried] says
//     why. [Interpreter.Skipped] lists the Pythons that users expect to be chosen.
//  5. Find examines a candidate by reading files: links, pyvenv.cfg, the names of
//     directories, headers. It follows the shims of pyenv by reading the files
//     that pyenv would read: running a shim takes a tenth of a second. Other shims do not say
//     what they start.
//  6. Find runs a Python, through [Request.Run], only to ask for a version that no file says.
//     If the request is [Request.Untrusted], Find never runs one that files of the project chose.
//  7. If an explicit source or a pin names a version, Find looks it up on PATH, then among
//     the installed Pythons. The fixes use the same lookup; fix.go has the text of all fixes.
//  8. [Interpreter.SearchPath] lists the directories of installed packages. [FactsOf] returns
//     everything else that files say about a Python.
//  9. [Explain] decides as Find does and returns the whole search. [List] lists all Pythons.
//     Neither runs a Python.
//
// The chosen path is never resolved: Python finds its environment from the path that starts it, so
// a resolved one would lose the environment.
//
// The package reads all files with package bounded. It does not know how a process is started, what
// the plugin does, or the environment of its own process.
package interp
