// Package interp finds the Python for a plugin. It reads files, and runs a Python only if
// they do not say its version.
//
//  1. [Find] reads every requires-python of the request; all must hold.
//  2. The explicit sources come first: the flag, PYPLUG_PYTHON, the manifest. The first
//     that is set decides, right or wrong.
//  3. Next is the plugin's own environment, beside it or up to the root of its project,
//     but not one that pyplug made for other plugins. If it exists it decides, too: a broken
//     one is an error, and no reason to search on. An activated environment that belongs to
//     the project comes before it. What others than the plugin's owner may change is refused.
//  4. Then come any other activated environment, the version that a file of the project
//     pins or the plugin's #! line names, PATH, version managers and the system. A Python
//     there that is broken or of another version is skipped, and Tried says why; Skipped
//     lists that of VIRTUAL_ENV again, because its user wants to know.
//  5. A candidate is examined by reading files: links, pyvenv.cfg, the names of
//     directories, headers. The shims of pyenv are followed by reading
//     what pyenv would read: running one takes a tenth of a second. Other shims do not say
//     what they start.
//  6. Only if no file says the version, the Python is asked, by [Request.Run]. If the request
//     is [Request.Untrusted], one that files of the project chose is never asked.
//  7. A version that an explicit source or a pin asks for is looked up on PATH, then among
//     what is installed. The same look finds what a fix suggests; fix.go words all fixes.
//  8. [Interpreter.SearchPath] lists the directories of installed packages, [FactsOf] the
//     rest of what files say of a Python.
//  9. [Explain] decides as Find does and shows the whole search, [List] lists all Pythons.
//     Neither ever runs one.
//
// The chosen path is never resolved: Python finds its environment from the path that starts
// it, so a resolved one would lose the environment.
//
// The package reads all files with package bounded. It does not know how a process is started,
// what the plugin does, or the environment of its own process.
package interp
