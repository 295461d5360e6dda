// Package missing says how to provide a module that a plugin lacks.
//
//  1. A [Plugin] describes the plugin: its Python, its files and the packages that they list.
//  2. [Plugin.Hints] looks first for a cause that is not a package: a directory that Python does
//     not search, a module of another Python's standard library, a misspelled name, code that
//     protoc generates.
//  3. Otherwise it names the package, if that is certain (distribution.go), and the command that
//     installs it: the command of pyplug or another tool that makes the environment, or else uv or
//     pip. It names no command that the system forbids, and guesses no package, because anybody may
//     own the name.
//
// It reads files of the project, installs nothing and starts nothing.
package missing
