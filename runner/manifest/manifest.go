package manifest

import (
	"encoding/json"
	"time"
)

// Kind says what an entry is.
type Kind uint8

// The kinds of entry. The zero Kind is none of them.
const (
	_          Kind = iota
	File            // a file that Python runs, or a link to one
	Package         // a directory with __init__.py
	Executable      // a program that runs itself
)

// String is the kind in words.
func (k Kind) String() string {
	switch k {
	case File:
		return "file"
	case Package:
		return "package"
	case Executable:
		return "executable"
	}
	return "none"
}

// Form says where a manifest is written.
type Form uint8

// The forms, in the order in which they are looked for.
const (
	None       Form = iota // there is no manifest
	TOML                   // pyplug.toml
	Pyproject              // [tool.pyplug] in pyproject.toml
	Script                 // [tool.pyplug] in the script's metadata block (PEP 723)
	PluginJSON             // plugin.json as Mattermost has it
)

// String is the form in the words of messages.
func (f Form) String() string {
	switch f {
	case TOML:
		return "pyplug.toml"
	case Pyproject:
		return "pyproject.toml"
	case Script:
		return "script block"
	case PluginJSON:
		return "plugin.json"
	}
	return "none"
}

// Plugin is a path resolved to what runs. It belongs to the caller.
type Plugin struct {
	// Path is the path as it was typed.
	Path string
	// Entry is the .py file, the package's directory or the executable,
	// absolute, links not followed.
	Entry string
	// Kind says which of them.
	Kind Kind
	// Shebang is what runs an executable that is a Python script, in the words of
	// its first line, such as "/usr/bin/env python3"; empty for everything else.
	Shebang string
	// Dir is the directory that Entry is in, absolute.
	Dir string
	// ID is the name by default: [a-z0-9][a-z0-9_-]*, from the manifest's id or
	// the file's name.
	ID string
	// Dirs are the directories beside the plugin in which its environment may
	// be: those of the manifest and the entry, then those behind links.
	Dirs []string
	// Requires are the requires-python that were found, also where there is no
	// manifest.
	Requires []Requirement
	// Manifest is what its manifest says; the zero value when there is none.
	Manifest Manifest
}

// Requirement is one requires-python and where it was found.
type Requirement struct {
	// Spec is a specifier set as PEP 440 has it, which was checked.
	Spec string
	// From names the place for messages, such as "pyproject.toml".
	From string
}

// Manifest is what a manifest says. An absent key is the zero value; pointers
// are for keys whose zero means something else than absent.
type Manifest struct {
	// File is the file it is written in, absolute; empty when there is none.
	File string
	// Form says how it is written.
	Form Form
	// Dir is the directory of File: what relative paths in it start from.
	Dir string

	// ID is the id as it is written; Plugin.ID is the name made from it.
	ID string
	// Entry is the entry as it is written.
	Entry string
	// Transport is "pipe", "grpc", or empty: to be found out.
	Transport string
	// Python is a path, an environment, a name or a version; a relative path
	// starts from Dir.
	Python string
	// RequiresPython is also in Plugin.Requires.
	RequiresPython string
	// CookieKey and CookieValue are go-plugin's magic cookie.
	CookieKey, CookieValue string
	// ProtocolVersions are the application's, as a go-plugin host offers them.
	ProtocolVersions []int
	// MTLS is whether the connection is to be encrypted.
	MTLS *bool
	// Env is added to the plugin's environment.
	Env map[string]string
	// Cwd is the plugin's working directory, absolute; empty: the caller's.
	Cwd string

	Timeouts Timeouts
	Restart  Restart
	// Workers is the number of processes, Concurrency that of calls in each.
	Workers, Concurrency int
	Limits               Limits
	// Preload is "off", "auto" or "force"; empty: auto.
	Preload string
	// Probe is the hook that tells whether the plugin is healthy.
	Probe string
	// ErrorField is the path of the field by which a result is an error.
	ErrorField string
	// Bootstrap is called after every start, Shutdown before every stop, in order.
	Bootstrap, Shutdown []HookCall
}

// EnvNames are the names of environments beside the plugin in the order in which
// its host looks for them; nil: pyplug's own order.
func (m Manifest) EnvNames() []string {
	if m.Form == PluginJSON {
		return []string{"venv", ".venv"}
	}
	return nil
}

// Timeouts are the limits of waiting. Call may be 0: no limit.
type Timeouts struct{ Start, Call, Stop, Probe *time.Duration }

// Restart says when a plugin is started again.
type Restart struct {
	// Policy is "no", "on-failure" or "always".
	Policy string
	// Max is after how many failures in a row it is given up; 0: never.
	Max *int
	// Backoff is the first delay, BackoffMax the longest, and HealthyAfter how
	// long a plugin runs until the delay starts anew.
	Backoff, BackoffMax, HealthyAfter *time.Duration
}

// Limits end a worker that reaches them. 0 is no limit.
type Limits struct {
	// Memory is in bytes, at least [LeastMemory]. In the manifest K, M, G and T,
	// with or without B or iB, are powers of 1024.
	Memory int64
	// CPU is in cores: 0.5 is half of one, which may be written "50%".
	CPU float64
	// Calls is the number of calls after which a worker is replaced.
	Calls int
	// Age is how long a worker may live.
	Age time.Duration
}

// HookCall is one call of the manifest.
type HookCall struct {
	// Hook is the hook's name.
	Hook string
	// Args is a JSON object (names) or array (positions); nil: none.
	Args json.RawMessage
}
