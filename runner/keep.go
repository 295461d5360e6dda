package runner

import (
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/manifest"
	"github.com/pyplug/pyplug/runner/pool"
	"github.com/pyplug/pyplug/runner/proc"
)

// MaxConcurrency is the most calls at once that one worker can be given.
const MaxConcurrency = 65536

// DefaultQueue is how many calls may wait when nobody said.
const DefaultQueue = pool.DefaultQueue

// AutoWorkers is as many workers as there are cores.
const AutoWorkers = -1

const (
	// manyWorkers is how many workers are started without a note.
	manyWorkers = 8
	// manyCalls is the default concurrency of a gRPC plugin, which has a queue of its
	// own.
	manyCalls = 100
	// atOnce stands for a delay of 0, which means the default.
	atOnce = time.Nanosecond
)

// Keep says how a plugin is kept alive. The zero value leaves all to the manifest,
// and then to the defaults. A negative limit is none, whatever the manifest says.
type Keep struct {
	// Workers is how many processes answer calls, or [AutoWorkers]; by default 1.
	Workers int
	// Concurrency is how many calls one of them gets at once; by default 1, for a
	// gRPC plugin 100, which a server queues by itself.
	// DefaultConcurrency is what holds for a functions file when nobody said; 0: 1.
	Concurrency, DefaultConcurrency int
	// Threads runs the plain functions of one worker in threads, as many at once
	// as Concurrency says. It is for functions files alone.
	Threads bool
	// Queue is how many calls may wait, 0: 1000; QueueTimeout how long one may
	// wait for a worker, 0: as long as its own limit allows.
	Queue        int
	QueueTimeout time.Duration

	// Restart is after which ends a worker is started again: "no", "on-failure"
	// or "always". DefaultRestart is what holds when nobody said; empty: "always".
	Restart, DefaultRestart string
	// MaxRestarts is after how many failures in a row it is given up.
	// DefaultMaxRestarts is what holds when nobody said; 0: never.
	MaxRestarts, DefaultMaxRestarts int
	// Backoff is the delay after the first failure in a row, by default 1 s,
	// which doubles up to BackoffMax, by default 60 s; HealthyAfter how long a
	// worker was ready when its end begins the row anew, by default 10 s.
	Backoff, BackoffMax, HealthyAfter time.Duration

	// Patient makes calls wait while a failed start is retried, as those of a batch
	// do. Otherwise they fail at once with the error of that start.
	Patient bool

	// MaxMemory is the memory limit of each worker, in bytes. From four fifths of it
	// on a worker is replaced between calls.
	MaxMemory int64
	// A worker that answered MaxCalls calls, is MaxAge old, or had no call for
	// IdleTime is replaced, see [pool.Options].
	MaxCalls         int
	MaxAge, IdleTime time.Duration
	// Preload is "off", "auto" or "force"; by default "auto".
	Preload string

	// Events receives every transition, in order, one at a time. It must not block,
	// and may call no method of the plugin but Status. Nil: nobody listens.
	Events func(hook.Event)
	// Note receives what the user should know once, such as that the plugin can have
	// only one worker; nil: nobody listens. It must not block.
	Note func(text string)
}

// resolveKeep applies flag, manifest and default, in this order. Limits of the
// manifest that this system cannot enforce are left out: lacks says so.
func resolveKeep(k Keep, m manifest.Manifest, grpc bool) (resolved Keep, lacks string, err error) {
	given := k.limits()
	k.Workers = or(k.Workers, m.Workers, 1)
	if k.Workers == AutoWorkers {
		k.Workers = runtime.GOMAXPROCS(0)
	}
	k.Concurrency = or(k.Concurrency, m.Concurrency)
	if k.Concurrency == 0 {
		if k.Concurrency = max(1, k.DefaultConcurrency); grpc {
			k.Concurrency = manyCalls
		}
	}
	k.Restart = or(k.Restart, m.Restart.Policy, k.DefaultRestart, pool.Always.String())
	if k.MaxRestarts == 0 {
		if k.MaxRestarts = k.DefaultMaxRestarts; m.Restart.Max != nil {
			k.MaxRestarts = *m.Restart.Max
		}
	}
	k.Backoff = or(k.Backoff, delay(m.Restart.Backoff))
	k.BackoffMax = or(k.BackoffMax, delay(m.Restart.BackoffMax))
	k.HealthyAfter = or(k.HealthyAfter, delay(m.Restart.HealthyAfter))
	k.MaxMemory = max(0, or(k.MaxMemory, m.Limits.Memory))
	k.MaxCalls = max(0, or(k.MaxCalls, m.Limits.Calls))
	k.MaxAge = max(0, or(k.MaxAge, m.Limits.Age))
	k.MaxRestarts, k.IdleTime, k.QueueTimeout = max(0, k.MaxRestarts), max(0, k.IdleTime), max(0, k.QueueTimeout)
	preload := or(k.Preload, m.Preload, "auto")
	switch {
	case grpc && k.Threads:
		return k, "", fmt.Errorf("threads are for functions files, and this is a gRPC plugin: its server has threads of its own")
	case grpc && preload == "force":
		return k, "", fmt.Errorf("preload is for functions files, and this is a gRPC plugin")
	case grpc:
		preload = "off"
	}
	k.Preload = preload
	if err := k.limits().Check(); errors.Is(err, errors.ErrUnsupported) && given.Memory <= 0 {
		lacks = err.Error()
		k.MaxMemory = 0
	} else if err != nil {
		return k, "", err
	}
	_, err = pool.ParseRestart(k.Restart)
	return k, lacks, err
}

// delay is a manifest's delay, where 0 is none and an absent one is not set.
func delay(d *time.Duration) time.Duration {
	switch {
	case d == nil:
		return 0
	case *d == 0:
		return atOnce
	}
	return *d
}

// once returns the settings of one worker that is never restarted.
func (k Keep) once() Keep {
	k.Workers, k.Restart, k.Preload = 1, pool.No.String(), "off"
	k.MaxCalls, k.MaxAge, k.IdleTime = 0, 0, 0
	return k
}

// policy is the restart policy.
func (k Keep) policy() pool.Policy {
	restart, err := pool.ParseRestart(k.Restart)
	if err != nil {
		panic(err) // resolveKeep has looked
	}
	return pool.Policy{
		Restart: restart, Backoff: k.Backoff, BackoffMax: k.BackoffMax,
		HealthyAfter: k.HealthyAfter, MaxFailures: k.MaxRestarts,
	}
}

// limits are what a worker may take.
func (k Keep) limits() proc.Limits { return proc.Limits{Memory: k.MaxMemory} }

// tooMany is the note on more workers than make sense, empty if there are not.
func (k Keep) tooMany() string {
	cores := runtime.GOMAXPROCS(0)
	if k.Workers <= manyWorkers || k.Workers <= cores {
		return ""
	}
	return fmt.Sprintf("%d workers on %d cores; more than %d workers rarely help", k.Workers, cores, max(manyWorkers, cores))
}
