package daemon

import (
	"context"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

// Session is a plugin that is kept alive: what a [Server] serves. All methods are
// safe for concurrent use; their errors are [*hook.Error].
type Session interface {
	hook.Caller
	// Describe lists the hooks.
	Describe(ctx context.Context) (schema.Schema, error)
	// Template is an empty request of a hook as JSON.
	Template(ctx context.Context, name string) ([]byte, error)
	// Probe asks whether the plugin is healthy.
	Probe(ctx context.Context) error
	// Status says how it is. It does not wait for calls.
	Status() hook.Status
	// Restart replaces what runs, and returns when what follows is ready.
	Restart(ctx context.Context, reason string) error
	// Replay makes a call now, and again after every later start.
	Replay(ctx context.Context, c hook.Call) (hook.Result, error)
	// Drain takes no more calls and returns when none runs, or ctx ends.
	Drain(ctx context.Context) error
	// Close stops the plugin and returns when all of it is gone. Ending ctx
	// skips to the kill.
	Close(ctx context.Context) error
}

// Identity says who serves a name, and what. It is what NAME.json holds. [Listen]
// fills in Build, PID, Started, Mark, Boot, Log and Socket.
type Identity struct {
	Name string `json:"name"`
	// Plugin is its path as typed, Entry the file that runs, absolute. Python is
	// the interpreter's path, Dir the plugin's working directory.
	Plugin    string `json:"plugin"`
	Entry     string `json:"entry"`
	Python    string `json:"python,omitempty"`
	Transport string `json:"transport,omitempty"`
	Dir       string `json:"dir,omitempty"`
	// About names plugin and Python as errors do.
	About string `json:"about,omitempty"`
	// Digest tells whether file, interpreter and flags are still the same.
	Digest string `json:"digest,omitempty"`
	// Version is that of pyplug for people, Build tells builds of it apart.
	Version string `json:"version,omitempty"`
	Build   string `json:"build,omitempty"`
	// PID is the daemon's process. Mark is the system's own word for when it was
	// started, and Boot for the boot that this was in: another process that has
	// the same number has not the same mark.
	PID     int       `json:"pid"`
	Started time.Time `json:"started"`
	Mark    string    `json:"mark,omitempty"`
	Boot    string    `json:"boot,omitempty"`
	// AutoStarted tells that a call started it.
	AutoStarted bool   `json:"auto_started,omitempty"`
	Log         string `json:"log"`
	Socket      string `json:"socket"`
}

// same tells whether two identities are of one process.
func (id Identity) same(other Identity) bool {
	return id.PID == other.PID && id.Mark == other.Mark && id.Boot == other.Boot
}

// Options are what a [Server] is handed. The zero value serves until it is told to
// stop, gives no hints and has no limit on calls.
type Options struct {
	// Starter is who waits for the daemon to be ready; nil: nobody.
	Starter *Starter
	// Hints says what to do about an error, Context which plugin it is about;
	// a nil one says nothing.
	Hints   func(error) []string
	Context func(error) []string
	// Note is asked at each call that succeeds for what the caller should know,
	// such as that the plugin's file has changed since; empty: nothing. It must be
	// quick. After a call that failed it is for Hints to say.
	Note func() string
	// CallTimeout is the limit of a call that brings none; 0: none.
	CallTimeout time.Duration
	// IdleExit ends the daemon after so long without a call, which clients that only
	// look do not change; 0: never.
	IdleExit time.Duration
	// Kill, when it is closed, has the plugin killed that is being stopped.
	Kill <-chan struct{}
	// Grace is how long calls that run may go on when the daemon is stopped;
	// 0 means 5 seconds, a negative one not at all.
	Grace time.Duration
}
