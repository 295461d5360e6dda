package manifest

import (
	"encoding/json"
	"time"

	"github.com/pyplug/pyplug/interp"
)

// Kind says what an entry is.
type Kind uint8

// The kinds of entry. The zero Kind is none of them.
const (
	_          Kind = iota
	File            // a file that Python runs, or a link to one
	Package         // a directory with __init__.py
	Executable      // a program
)

// String names the kind.
func (k Kind) String() string { return [...]string{"none", "file", "package", "executable"}[k] }

// Form says where a manifest is written.
type Form uint8

// The forms, in the order in which they decide.
const (
	None       Form = iota // there is no manifest
	TOML                   // pyplug.toml
	Pyproject              // [tool.pyplug] in pyproject.toml
	Script                 // [tool.pyplug] in the script's metadata block (PEP 723)
	PluginJSON             // a Mattermost-style plugin.json
)

// String names the form in messages.
func (f Form) String() string {
	return [...]string{"none", "pyplug.toml", "pyproject.toml", "script block", "plugin.json"}[f]
}

// Plugin is a path that was resolved to what runs. The caller owns it.
type Plugin struct {
	// Path is the path that was resolved, unchanged.
	Path string
	// Entry is the .py file, the package's directory or the executable. It is
	// absolute; symbolic links stay as they are.
	Entry string
	// Kind says which of them Entry is.
	Kind Kind
	// Shebang is the interpreter line of an executable Python script without "#!",
	// such as "/usr/bin/env python3"; empty for everything else.
	Shebang string
	// Dir is the directory of Entry, absolute.
	Dir string
	// ID is the default name, [a-z0-9][a-z0-9_-]*, made from the manifest's id or
	// the file's name.
	ID string
	// Dirs are the directories in which the plugin's environment may be: those of
	// entry and manifest, then those behind links.
	Dirs []string
	// Requires lists each requires-python that was found, with or without a
	// manifest.
	Requires []interp.Requirement
	// Manifest is the plugin's manifest, or the zero value.
	Manifest Manifest
}

// Manifest is the content of a manifest. An absent key leaves the zero value; a
// pointer marks a key whose zero value means something else.
type Manifest struct {
	// File is the file of the manifest, absolute; empty if there is none.
	File string
	// Form says how it is written.
	Form Form
	// Dir is the directory of File. Relative paths in the manifest start there.
	Dir string

	// ID is the id as written; Plugin.ID is the name made from it.
	ID string
	// Entry is the entry as written.
	Entry string
	// Transport is "pipe" or "grpc", or empty for automatic detection.
	Transport string
	// Python is a path, an environment, a name or a version. A relative path starts
	// from Dir.
	Python string
	// RequiresPython is also in Plugin.Requires.
	RequiresPython string
	// CookieKey and CookieValue are go-plugin's magic cookie.
	CookieKey, CookieValue string
	// ProtocolVersions are the app versions that a go-plugin host offers.
	ProtocolVersions []int
	// MTLS says whether the connection is encrypted.
	MTLS *bool
	// Env is added to the plugin's environment.
	Env map[string]string
	// Cwd is the plugin's working directory, absolute; empty: the caller's.
	Cwd string

	Timeouts Timeouts
	Restart  Restart
	// Workers is the number of processes, Concurrency the number of concurrent calls
	// in each.
	Workers, Concurrency int
	Limits               Limits
	// Preload is "off", "auto" or "force"; empty: auto.
	Preload string
	// Probe is the hook that reports the plugin's health.
	Probe string
	// ErrorField is the path of the result field that carries an error.
	ErrorField string
	// Bootstrap calls follow every start, Shutdown calls precede every stop, in order.
	Bootstrap, Shutdown []HookCall
}

// EnvNames returns the directory names of environments beside the plugin, in the
// order in which its host searches; nil: pyplug's own order.
func (m Manifest) EnvNames() []string {
	if m.Form == PluginJSON {
		return []string{"venv", ".venv"}
	}
	return nil
}

// Timeouts are the timeouts. Call may be 0: none.
type Timeouts struct{ Start, Call, Stop, Probe *time.Duration }

// Restart is the restart policy.
type Restart struct {
	// Policy is "no", "on-failure" or "always".
	Policy string
	// Max is the number of failures in a row after which pyplug gives up; 0: never.
	Max *int
	// Backoff is the first delay and BackoffMax the longest. A worker that was ready
	// for HealthyAfter resets the delay.
	Backoff, BackoffMax, HealthyAfter *time.Duration
}

// Limits are limits of each worker. 0 is no limit.
type Limits struct {
	// Memory is in bytes, at least [LeastMemory].
	Memory int64
	// Calls is the number of calls after which a worker is replaced.
	Calls int
	// Age is the age at which a worker is replaced.
	Age time.Duration
}

// HookCall is a call in a manifest.
type HookCall struct {
	// Hook is the hook's name.
	Hook string
	// Args is a JSON object (names) or array (positions); nil: none.
	Args json.RawMessage
}
