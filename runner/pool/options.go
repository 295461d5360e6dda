package pool

import (
	"cmp"
	"context"
	"math/rand/v2"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/settings"
)

// Options say how a pool behaves. The zero value means one worker, which makes one call at a time
// and is never restarted.
type Options struct {
	// Workers is the number of workers, at least 1.
	Workers int
	// Concurrency is the maximum number of concurrent calls in one instance, at least
	// 1. An instance may accept fewer.
	Concurrency int
	// Queue is the maximum number of waiting calls. Zero means the default of the setting.
	Queue int

	Policy
	// Patient makes calls wait while a failed start is retried. Otherwise they fail
	// at once with the error of that start.
	Patient bool

	// MaxCalls, MaxAge and MaxMemory (in bytes) are limits. An instance that reaches one of the
	// first two, or uses more than 80 % of MaxMemory after its first call, is replaced. Zero means
	// no limit. Each instance lowers the first two limits by up to a quarter, at random, so that
	// instances are not all replaced at once.
	MaxCalls  int
	MaxAge    time.Duration
	MaxMemory int64
	// Memory returns how many bytes of memory a process uses, or 0 if that is unknown.
	Memory func(pid int) int64

	// Bootstrap prepares an instance after every start, before the worker is ready. If it returns
	// an error, the instance is stopped. Shutdown is called before a ready instance is stopped, if
	// the instance has a free place for a call. Each may be nil.
	Bootstrap, Shutdown func(ctx context.Context, inst hook.Instance) error
	// ReplayTimeout bounds a call that is made again after a start. Zero means the default
	// timeout of a call.
	ReplayTimeout time.Duration
	// Probe is the time between two probes. Zero means 10 s. A negative value means no
	// probes. ProbeTimeout bounds each probe. Zero means the default of the setting.
	Probe, ProbeTimeout time.Duration
	// Await waits until the first started instance can serve calls. If Await fails, the
	// start fails with its error. Nil means that the instance can serve at once.
	Await func(ctx context.Context, inst hook.Instance) error
	// Drain is the time that the calls of a replaced instance get to finish. Zero means 2 min.
	Drain time.Duration

	// Version returns a version number of the plugin's files. The number changes when a failed
	// start may now succeed, and when hooks may differ. Nil means that the files never change.
	Version func() int
	// Call makes a call in an instance. Its result decides the call's outcome. Nil
	// means [hook.Instance]'s Call.
	Call func(ctx context.Context, inst hook.Caller, c hook.Call) (hook.Result, error)

	// Events receives every transition, in order, one at a time. It must not block or call a
	// method of the pool.
	Events func(hook.Event)
	// Note receives messages that the user should see once. It must not block.
	Note func(text string)
	// Rand returns the random part of delays, from 0 up to 1. Nil means [rand.Float64].
	Rand func() float64
}

// withDefaults fills in the defaults.
func (o Options) withDefaults() Options {
	o.Workers, o.Concurrency = max(o.Workers, 1), max(o.Concurrency, 1)
	usual := settings.Defaults()
	o.Queue = cmp.Or(o.Queue, usual.Queue)
	o.Policy = o.Policy.withDefaults()
	o.ReplayTimeout = cmp.Or(o.ReplayTimeout, usual.Timeouts.Call)
	o.Probe = cmp.Or(o.Probe, 10*time.Second)
	o.ProbeTimeout = cmp.Or(o.ProbeTimeout, usual.Timeouts.Probe)
	o.Drain = cmp.Or(o.Drain, 2*time.Minute)
	if o.Version == nil {
		o.Version = func() int { return 0 }
	}
	nothing := func(context.Context, hook.Instance) error { return nil }
	if o.Bootstrap == nil {
		o.Bootstrap = nothing
	}
	if o.Shutdown == nil {
		o.Shutdown = nothing
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
