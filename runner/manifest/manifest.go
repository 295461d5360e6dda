package manifest

import (
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/pyplug/pyplug/interp"
	"github.com/pyplug/pyplug/runner/schema"
)

// Kind says what an entry is.
type Kind uint8

// The kinds of entry. The zero Kind is invalid.
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

// The forms, in order of precedence.
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
	// Entry is the absolute path of the Python file, the package's directory or the executable.
	// Symbolic links stay as they are. It is empty for a module that is not in From, until its
	// Python was asked where the module is.
	Entry string
	// Module is the dotted name of a plugin named by its module, else "". From is the directory
	// in which Python looks for it first, Src the one of its project in which Python looks last,
	// or "".
	Module, From, Src string
	// Kind says what Entry is.
	Kind Kind
	// Shebang is the Python that the #! line of an executable script names, such as "python3", or
	// "".
	Shebang string
	// ID is the default name, [a-z0-9][a-z0-9_-]*. It comes from the manifest's id or the file's
	// name.
	ID string
	// Dirs are the directories that may contain the plugin's environment: those of entry and
	// manifest, then those behind links.
	Dirs []string
	// Project is the project that [interp.FindProject] finds for Dirs and the caller's
	// environment. Callers of [Resolve] set it.
	Project interp.Project
	// Requires lists every requires-python, with or without a manifest.
	Requires []interp.Requirement
	// Manifest is the plugin's manifest, or the zero value.
	Manifest Manifest
}

// OnlyGRPC returns the error for a key that only applies to gRPC plugins.
func (p Plugin) OnlyGRPC(key string) *Error {
	return p.Manifest.fault(&problem{path: []string{key}, is: "applies only to gRPC plugins, and this is a functions file",
		hint: schema.Hints(`to start it as a gRPC plugin, set transport = "grpc"`)})
}

// Manifest is the content of a manifest. The tags of a field name its key and the valid values.
// Tag "one" lists the allowed texts, "range" is the range of an integer (default 0 to
// 2147483647), "zero" names what a 0 is stored as, or is "no" if a 0 is not valid, and "required"
// says what a required key is. Texts must not be empty. A missing key leaves the zero value. A
// pointer marks a key whose zero value means something else.
type Manifest struct {
	// File is the absolute path of the manifest, or "".
	File string
	// Form says how it is written.
	Form Form
	// Dir is the directory of File. Relative paths in the manifest start there.
	Dir string

	// ID is the id as written. Plugin.ID is the name made from it.
	ID string `key:"id"`
	// Entry is the entry as written.
	Entry string `key:"entry"`
	// Transport is empty for automatic detection.
	Transport string `key:"transport" one:"pipe,grpc"`
	// Python is a path, an environment, a name or a version. A relative path starts
	// from Dir.
	Python string `key:"python"`
	// RequiresPython is also in Plugin.Requires.
	RequiresPython string `key:"requires-python"`
	// Args are the arguments of a gRPC plugin.
	Args []string `key:"args"`
	// Host names one of [Hosts]. It sets the next four keys unless the manifest does.
	Host string `key:"host"`
	// CookieKey and CookieValue are go-plugin's magic cookie.
	CookieKey   string `key:"cookie-key"`
	CookieValue string `key:"cookie-value"`
	// ProtocolVersions are the app versions that a go-plugin host offers.
	ProtocolVersions []int `key:"protocol-versions"`
	// MTLS says whether the connection is encrypted.
	MTLS *bool `key:"mtls"`
	// Env is added to the plugin's environment.
	Env map[string]string `key:"env"`
	// CarriesErrors says that a result with an error in its field "error" is a failed call, as for
	// Mattermost.
	CarriesErrors bool
	// Cwd is the absolute working directory of the plugin. "" means the caller's.
	Cwd string `key:"cwd"`

	Timeouts Timeouts `key:"timeouts"`
	Restart  Restart  `key:"restart"`
	// Workers is the number of processes, Concurrency the number of concurrent calls
	// in each.
	Workers     int    `key:"workers" range:"1-1024"`
	Concurrency int    `key:"concurrency" range:"1-65536"`
	Limits      Limits `key:"limits"`
	// Preload is auto if it is empty.
	Preload string `key:"preload" one:"off,auto,force"`
	// Convert says whether arguments are converted to the types that annotations name. nil means
	// true.
	Convert *bool `key:"convert"`
	// Probe is the hook that reports the plugin's health.
	Probe string `key:"probe"`
	// Bootstrap calls follow every start, Shutdown calls precede every stop, in order.
	Bootstrap []HookCall `key:"bootstrap"`
	Shutdown  []HookCall `key:"shutdown"`
	MCP       MCP        `key:"mcp"`

	document
}

// MCP describes the tools of an LLM client, as patterns of hook names. nil says nothing about a
// property. An empty list says that no tool has it.
type MCP struct {
	ReadOnly    []string `key:"read-only"`
	Destructive []string `key:"destructive"`
	Idempotent  []string `key:"idempotent"`
	OpenWorld   []string `key:"open-world"`
	// OutputSchema are the tools with a schema of their result.
	OutputSchema []string `key:"output-schema"`
}

// What stands for a 0 that is written in a manifest or in a flag. The value 0 means that nothing
// is written.
const (
	// Forever is the timeout of a wait without one. It does not overflow a time.
	Forever = schema.MaxDuration
	// AtOnce is a delay of 0.
	AtOnce = time.Nanosecond
	// NoLimit is a number or a duration without a limit.
	NoLimit = -1
)

// zeros has these values by their names in tags.
var zeros = map[string]int64{"forever": int64(Forever), "at once": int64(AtOnce), "no limit": NoLimit}

// Timeouts bound the waits for a plugin.
type Timeouts struct {
	Start time.Duration `key:"start" zero:"no"` // of the import or the handshake
	Call  time.Duration `key:"call" zero:"forever"`
	Stop  time.Duration `key:"stop" zero:"forever"` // from the first signal to the kill
	Probe time.Duration `key:"probe" zero:"no"`
}

// Restart is the restart policy.
type Restart struct {
	Policy string `key:"policy" one:"no,on-failure,always"`
	// Max is the number of failures in a row after which pyplug gives up.
	Max int `key:"max" zero:"no limit"`
	// Backoff is the first delay and BackoffMax the longest. A worker that was ready
	// for HealthyAfter resets the delay.
	Backoff      time.Duration `key:"backoff" zero:"at once"`
	BackoffMax   time.Duration `key:"backoff-max" zero:"at once"`
	HealthyAfter time.Duration `key:"healthy-after" zero:"at once"`
}

// Limits are the limits of each worker. 0 means no limit.
type Limits struct {
	// Memory is in bytes, at least [LeastMemory].
	Memory int64 `key:"memory"`
	// Calls is the number of calls after which a worker is replaced.
	Calls int `key:"calls" range:"1-2147483647"`
	// Age is the age at which a worker is replaced.
	Age time.Duration `key:"age" zero:"no"`
}

// HookCall is a call in a manifest.
type HookCall struct {
	// Hook is the hook's name.
	Hook string `key:"hook" required:"the name of a hook"`
	// Args is a JSON object (names) or array (positions). nil means no arguments.
	Args json.RawMessage `key:"args"`
}

// Host describes how a host of go-plugin starts plugins.
type Host struct {
	// CookieKey and CookieValue are its magic cookie. Versions are the app versions that it
	// offers.
	CookieKey, CookieValue string
	Versions               []int
	// MTLS reports that it encrypts the connection.
	MTLS bool
	// Pings reports that it calls the health service.
	Pings bool
}

// Hosts lists the known hosts. The values are those of their own source. To add a host, add a
// line.
var Hosts = map[string]Host{
	"mattermost": {"MATTERMOST_PLUGIN", "Securely message teams, anywhere.", []int{1}, false, true},
	"nomad":      {"NOMAD_PLUGIN_MAGIC_COOKIE", "e4327c2e01eabfd75a8a67adb114fb34a757d57eee7728d857a8cec6e91a7255", []int{2}, false, false},
	"terraform":  {"TF_PLUGIN_MAGIC_COOKIE", "d602bf8f470bc67ca7faa0386276bbdd4330efaf76d1a219cb4d6991ca9872b2", []int{5, 6}, true, false},
	"vault":      {"VAULT_BACKEND_PLUGIN", "6669da05-b1c8-4f49-97d9-c8e5bed98e20", []int{3, 4, 5}, true, false},
}

// HostNames lists the names of [Hosts], sorted.
func HostNames() []string { return slices.Sorted(maps.Keys(Hosts)) }

// startFor sets the keys that the manifest leaves to its host.
func (m *Manifest) startFor() {
	h := Hosts[m.Host]
	if m.CookieKey == "" {
		m.CookieKey, m.CookieValue = h.CookieKey, h.CookieValue
	}
	if len(m.ProtocolVersions) == 0 {
		m.ProtocolVersions = h.Versions
	}
	if m.MTLS == nil && h.MTLS {
		m.MTLS = &h.MTLS
	}
}
