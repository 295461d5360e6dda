// Package missing says how to provide a module that a plugin lacks.
//
//  1. A [Plugin] has what is known of it: its Python, its files and what they list.
//  2. [Plugin.Hints] looks first for a cause that is not a package: a directory that Python does not search, a
//     module of the standard library of another Python, a misspelled name, code that protoc generates.
//  3. Else it names the package, if that is certain (distribution.go), and the command that installs it: that of
//     the environment that pyplug or another tool makes, else uv or pip. It names no command that the system
//     forbids, and guesses no package, because anybody may own the name.
//
// It reads files of the project, installs nothing and starts nothing.
package missing
