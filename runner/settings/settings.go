package settings

import (
	"time"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

// Settings contains the values of settings. A field with its zero value is not set.
type Settings struct {
	// ID is the default name of a background plugin, and Entry is what runs. Only a manifest sets
	// them.
	ID, Entry string
	// Transport is "pipe" or "grpc".
	Transport string
	// Python is an interpreter, environment, name or version, in the user's words. RequiresPython
	// is a version specifier.
	Python, RequiresPython string
	// Env sets variables of the plugin ("K=V"). With CleanEnv, "K" passes on the caller's variable.
	Env      []string
	CleanEnv Bool
	// WorkDir is the plugin's working directory.
	WorkDir  string
	Timeouts Timeouts
	// NaN is "error", "null" or "literal".
	NaN string
	// NoConvert disables the conversion of arguments by annotations.
	NoConvert Bool

	// Workers is the number of processes, or [Auto]. Concurrency is the number of concurrent calls
	// in each. With Threads, a worker runs its plain functions in that many threads.
	Workers, Concurrency int
	Threads              Bool
	// Queue is the number of calls that may wait for a worker.
	Queue   int
	Restart Restart
	Limits  Limits
	// Preload is "off", "auto" or "force".
	Preload string
	// Drain is how long calls are still accepted after a stop has begun. 0 means the default.
	// AtOnce means that no more calls are accepted.
	Drain time.Duration
	// Watch restarts the workers when the plugin's own files change.
	Watch Bool
	// Probe is the hook that reports health.
	Probe string
	// Bootstrap calls follow every start, and Shutdown calls precede every stop. Both are made in
	// order.
	Bootstrap, Shutdown []hook.Call
	MCP                 MCP

	// Host is a key of [Hosts]. pyplug starts the plugin as that host does.
	Host string
	// Cookie is go-plugin's magic cookie, KEY=VALUE.
	Cookie string
	// ProtocolVersions are the app versions that a go-plugin host offers.
	ProtocolVersions []int
	// MTLS secures the connection as go-plugin's AutoMTLS does.
	MTLS Bool
	// Service is the name in requests to the health service.
	Service string
	// Args are the arguments of the program.
	Args []string
	// Header is metadata for every request, see [ParseHeader].
	Header []string
	// MaxMessage is the maximum size of a message in bytes.
	MaxMessage int64
	// Proto and Protoset are files that describe the plugin's methods. Proto files are generated
	// code. Protoset files are outputs of protoc -o.
	Proto, Protoset []string
}

// Timeouts bound the waits for a plugin.
type Timeouts struct {
	Start time.Duration // for the import or the handshake
	Call  time.Duration
	Stop  time.Duration // from the first signal to the kill
	Probe time.Duration
}

// Restart is the restart policy.
type Restart struct {
	// Policy is [No], [OnFailure] or [Always].
	Policy string
	// Max is the number of failures in a row after which pyplug gives up.
	Max int
	// Backoff is the first delay, and BackoffMax the longest. A worker that was ready for
	// HealthyAfter resets the delay.
	Backoff, BackoffMax, HealthyAfter time.Duration
}

// The restart policies. They say after which exits a worker is restarted.
const (
	No        = "no"         // never
	OnFailure = "on-failure" // except after exit code 0 while no call was running
	Always    = "always"     // after every exit that was not requested
)

// Limits are the limits of each worker. A worker that exceeds a limit is replaced.
type Limits struct {
	Memory int64 // in bytes
	Calls  int
	Age    time.Duration
}

// MCP describes the tools of an LLM client. Each list gives a property to the hooks whose names
// match its patterns. A nil list says nothing about the property. An empty list says that no tool
// has it.
type MCP struct {
	ReadOnly, Destructive, Idempotent, OpenWorld []string
	// OutputSchema lists the tools that have a schema of their result.
	OutputSchema []string
}

// Bool is a bool that may be unset. The zero value is unset.
type Bool int8

// The values of a Bool that is set.
const (
	Off Bool = -1
	On  Bool = 1
)

// Auto means as many workers as there are cores.
const Auto = -1

// Values that represent 0, because the value 0 means that nothing is set.
const (
	// Forever is the timeout of a wait without a limit. Adding it to a time does not overflow.
	Forever = schema.MaxDuration
	// AtOnce is a delay of 0.
	AtOnce = time.Nanosecond
	// NoLimit is a number or a duration without a limit.
	NoLimit = -1
)

// Host is a host of go-plugin. It starts plugins with settings of its own.
type Host struct {
	Settings
	// Pings reports whether the host calls the health service.
	Pings bool
}

// Hosts lists the known hosts. The values come from their source code. To add a host, add a line.
var Hosts = map[string]Host{
	"mattermost": {Settings{Cookie: "MATTERMOST_PLUGIN=Securely message teams, anywhere.", ProtocolVersions: []int{1}, MTLS: Off}, true},
	"nomad": {Settings{Cookie: "NOMAD_PLUGIN_MAGIC_COOKIE=e4327c2e01eabfd75a8a67adb114fb34a757d57eee7728d857a8cec6e91a7255",
		ProtocolVersions: []int{2}, MTLS: Off}, false},
	"terraform": {Settings{Cookie: "TF_PLUGIN_MAGIC_COOKIE=d602bf8f470bc67ca7faa0386276bbdd4330efaf76d1a219cb4d6991ca9872b2",
		ProtocolVersions: []int{5, 6}, MTLS: On}, false},
	"vault": {Settings{Cookie: "VAULT_BACKEND_PLUGIN=6669da05-b1c8-4f49-97d9-c8e5bed98e20", ProtocolVersions: []int{3, 4, 5}, MTLS: On}, false},
}
