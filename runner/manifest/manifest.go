package manifest

import (
	"strings"

	"github.com/pyplug/pyplug/interp"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
	"github.com/pyplug/pyplug/runner/settings"
)

// Kind is the kind of an entry.
type Kind uint8

// The kinds of entry. The zero Kind is invalid.
const (
	_          Kind = iota
	File            // a file that Python runs, or a link to one
	Package         // a directory with __init__.py
	Executable      // a program
)

// String returns the name of the kind.
func (k Kind) String() string { return [...]string{"none", "file", "package", "executable"}[k] }

// Form is the place where a manifest is written.
type Form uint8

// The forms, in order of precedence.
const (
	None       Form = iota // there is no manifest
	TOML                   // pyplug.toml
	Pyproject              // [tool.pyplug] in pyproject.toml
	Script                 // [tool.pyplug] in the script's metadata block (PEP 723)
	PluginJSON             // a Mattermost-style plugin.json
)

// String returns the name of the form for messages.
func (f Form) String() string {
	return [...]string{"none", "pyplug.toml", "pyproject.toml", "script block", "plugin.json"}[f]
}

// Plugin is the result of resolving a path. The caller owns it.
type Plugin struct {
	// Path is the resolved path, unchanged.
	Path string
	// Entry is the absolute path of the Python file, the package's directory or the executable.
	// Symbolic links are not followed. For a module that is not in From, Entry is empty until the
	// plugin's Python has located the module.
	Entry string
	// Module is the dotted name of a plugin that was named by its module, or "". From is the
	// directory in which Python looks for it first. Src is the directory of its project in which
	// Python looks last, or "".
	Module, From, Src string
	// Kind is the kind of Entry.
	Kind Kind
	// Shebang is the Python that the #! line of an executable script names, such as "python3", or
	// "".
	Shebang string
	// ID is the default name, [a-z0-9][a-z0-9_-]*. It comes from the manifest's id or the file's
	// name.
	ID string
	// Dirs are the directories that may contain the plugin's environment: those of the entry and of
	// the manifest, then those behind links.
	Dirs []string
	// Project is the result of [interp.FindProject] for Dirs and the caller's environment. Callers
	// of [Resolve] set it.
	Project interp.Project
	// Requires lists every requires-python, with or without a manifest.
	Requires []interp.Requirement
	// Manifest is the plugin's manifest, or the zero value.
	Manifest Manifest
}

// OnlyGRPC returns the error for a key that only applies to gRPC plugins.
func (p Plugin) OnlyGRPC(key string) *hook.Error {
	m := &settings.Mistake{Text: "applies only to gRPC plugins, and this is a functions file",
		Hints: schema.Hints(`set transport = "grpc" to start it as a gRPC plugin`)}
	return p.Manifest.fault(m.Within(strings.Split(key, ".")...))
}

// Manifest is the content of a manifest.
type Manifest struct {
	// Settings has the values of the keys. Paths in it are absolute, except Python.
	settings.Settings
	// File is the absolute path of the manifest, or "".
	File string
	// Form says where the manifest is written.
	Form Form
	// Dir is the directory of File. Relative paths in the manifest start there.
	Dir string
	// CarriesErrors says that a result with an error in its field "error" is a failed call, as for
	// Mattermost.
	CarriesErrors bool

	document
}
