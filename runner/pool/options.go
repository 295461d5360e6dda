package pool

import (
	"math/rand/v2"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
)

// DefaultQueue is how many calls may wait if [Options] do not say.
const DefaultQueue = 1000

// Options say how a pool behaves. The zero value is one worker with one call at a
// time that is never restarted.
//
// Each instance gets its own MaxCalls, MaxAge and IdleTime, up to a quarter lower, so
// that not all are replaced at once.
type Options struct {
	// Workers is the number of workers, at least 1.
	Workers int
	// Concurrency is the most calls in one instance at once, at least 1; an instance
	// that takes fewer gets fewer.
	Concurrency int
	// Queue is how many calls may wait; 0: [DefaultQueue].
	Queue int
	// QueueTimeout bounds each wait for a worker; 0: only the call's context does.
	QueueTimeout time.Duration

	Policy Policy
	// Patient makes calls wait while a failed start is retried. Otherwise they fail
	// at once with the error of that start.
	Patient bool

	// Bootstrap calls are made in order after every start, before the worker is ready.
	// Shutdown calls are made before a ready instance is stopped, if it has room for a
	// call. CallTimeout bounds each; 0: 2 min.
	Bootstrap, Shutdown []hook.Call
	CallTimeout         time.Duration

	// Probe is the time between two probes, 0: 10 s, negative: no probes.
	// ProbeTimeout bounds each; 0: 2 s.
	Probe, ProbeTimeout time.Duration
	// ProbeAfterTimeout probes an instance after a call that began and then timed out
	// or was canceled, before the instance gets another call: for transports whose
	// Call returns before the plugin has given the call up.
	ProbeAfterTimeout bool
	// Drain bounds how long the calls of a replaced instance, and those at
	// [Pool.Close], may go on; 0: 2 min.
	Drain time.Duration

	// MaxCalls, MaxAge, IdleTime and MaxMemory (in bytes) are limits after which an
	// instance is replaced; 0: none. Memory returns how much memory a process uses.
	// An instance that was never called is not idle.
	MaxCalls         int
	MaxAge, IdleTime time.Duration
	MaxMemory        int64
	Memory           func(pid int) (bytes int64, ok bool)

	// Permanent reports whether a start that failed with this error fails again until
	// the plugin changes; nil: [Permanent].
	Permanent func(error) bool
	// Stamp describes the plugin's files. It changes when a failed start is worth
	// another try, and when hooks may differ. Nil: they never change.
	Stamp func() string
	// Alone returns why a start failed if the only reason is that another instance
	// lives, such as "it listens at 127.0.0.1:4410 at every start"; else "". From then
	// on the old instance stops before the next starts, and there is one worker. Nil:
	// that never happens.
	Alone func(error) string

	// Events receives every transition, in order, one at a time. It must not block and
	// may call no method but [Pool.Status].
	Events func(hook.Event)
	// Note receives what the user should know once.
	Note func(text string)
	// Rand returns the random part of delays, from 0 up to 1; nil: [rand.Float64].
	Rand func() float64
}

// withDefaults fills in the defaults.
func (o Options) withDefaults() Options {
	o.Workers, o.Concurrency = max(o.Workers, 1), max(o.Concurrency, 1)
	if o.Queue <= 0 {
		o.Queue = DefaultQueue
	}
	o.Policy = o.Policy.withDefaults()
	o.CallTimeout = positiveOr(o.CallTimeout, 2*time.Minute)
	if o.Probe == 0 {
		o.Probe = 10 * time.Second
	}
	o.ProbeTimeout = positiveOr(o.ProbeTimeout, 2*time.Second)
	o.Drain = positiveOr(o.Drain, 2*time.Minute)
	if o.Memory == nil {
		o.MaxMemory, o.Memory = 0, func(int) (int64, bool) { return 0, false }
	}
	if o.Permanent == nil {
		o.Permanent = Permanent
	}
	if o.Stamp == nil {
		o.Stamp = func() string { return "" }
	}
	if o.Events == nil {
		o.Events = func(hook.Event) {}
	}
	if o.Note == nil {
		o.Note = func(string) {}
	}
	if o.Rand == nil {
		o.Rand = rand.Float64
	}
	return o
}
