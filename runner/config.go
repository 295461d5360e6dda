package runner

import (
	"time"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/manifest"
)

// The defaults of [Timeouts].
const (
	DefaultCall      = 2 * time.Minute
	DefaultImport    = 10 * time.Minute
	DefaultHandshake = 30 * time.Second
	DefaultStop      = 5 * time.Second
	DefaultProbe     = 2 * time.Second
)

// Forever stands for no limit: it is longer than any wait, and does not overflow a
// time.
const Forever = 100 * 365 * 24 * time.Hour

// Config says what to open and how. The zero value of a field leaves it to the
// manifest, and then to the default. It is copied and never written to.
type Config struct {
	// Plugin is the path as typed.
	Plugin string
	// Python is an interpreter, environment, name or version, as typed.
	Python string
	// Transport is "pipe" or "grpc".
	Transport string
	// Environ is the caller's environment, Cwd its working directory.
	Environ []string
	Cwd     string
	// Env sets variables of the plugin ("K=V"), or names those that CleanEnv
	// is to let pass ("K").
	Env      []string
	CleanEnv bool
	// Dir is the plugin's working directory.
	Dir string
	// NaN is "error", "null" or "literal".
	NaN      string
	Timeouts Timeouts
	// DefaultStart is the limit of an import that nobody set; 0 means
	// DefaultImport. A handshake has its own, DefaultHandshake.
	DefaultStart time.Duration
	// ErrorField is the path in a result where it carries an error.
	ErrorField string
	GRPC       GRPC
	// Once starts one worker that is never restarted, whatever Keep and the manifest
	// say: for a command that makes a call or two.
	Once bool
	// Keep says how the plugin is kept alive.
	Keep Keep
	// Started receives what is known of each process that is ready, Observe what was
	// seen of each start of a gRPC plugin, also of one that failed. Nil: nobody
	// listens. They must not block.
	Started func(hook.Info)
	Observe func(Evidence)
	// Output receives what the plugin prints, a line at a time; nil discards
	// it. It is never called by two goroutines at once.
	Output func(stream, text string, cut int)
	// Debug receives what happens, for a developer; nil discards it. The areas are
	// those of DebugAreas.
	Debug func(area, text string)
	// DebugWire asks for every frame, which costs time.
	DebugWire bool
}

// DebugAreas lists the areas of [Config.Debug].
func DebugAreas() []string { return []string{"wire", "proc", "state", "grpc", "go-plugin"} }

// Timeouts bound the waits. Zero is not set.
type Timeouts struct {
	Start time.Duration // of the import or the handshake
	Call  time.Duration
	Stop  time.Duration // from the first signal to the kill
	Probe time.Duration
}

// Settings are what [Open] resolved.
type Settings struct {
	// Transport is "pipe" or "grpc"; Why says what decided that, empty when
	// nothing did.
	Transport, Why string
	Timeouts       Timeouts
	ErrorField     string
	Dir            string
}

// resolveSettings applies flag, manifest and default, in this order, to all but the
// transport.
func resolveSettings(c Config, p manifest.Plugin) Settings {
	m := p.Manifest
	return Settings{
		Timeouts: Timeouts{
			Start: or(c.Timeouts.Start, limit(m.Timeouts.Start)), // its default depends on the transport
			Call:  or(c.Timeouts.Call, limit(m.Timeouts.Call), DefaultCall),
			Stop:  or(c.Timeouts.Stop, limit(m.Timeouts.Stop), DefaultStop),
			Probe: or(c.Timeouts.Probe, limit(m.Timeouts.Probe), DefaultProbe),
		},
		ErrorField: or(c.ErrorField, m.ErrorField),
		Dir:        or(c.Dir, m.Cwd),
	}
}

// limit is a manifest's limit, where 0 is none and an absent one is not set.
func limit(d *time.Duration) time.Duration {
	switch {
	case d == nil:
		return 0
	case *d == 0:
		return Forever
	}
	return *d
}

// or returns the first value that is not zero.
func or[T comparable](values ...T) T {
	var zero T
	for _, v := range values {
		if v != zero {
			return v
		}
	}
	return zero
}

// fail makes an error of a kind.
func fail(k hook.Kind, err error) *hook.Error { return hook.NewError(k, err) }
