package runner

import (
	"cmp"
	"errors"
	"fmt"
	"runtime"

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
)

// Keep says how a plugin is kept alive. The zero value leaves all to the manifest, and
// then to the defaults. A negative limit is none, whatever the manifest says.
//
// Of the options of the pool, those that flags and manifests do not set are not read.
// The defaults are those of [pool.Options], but that Restart is [pool.Always] and
// Concurrency 100 for a gRPC plugin, whose server queues calls by itself. Workers may be
// [AutoWorkers]. MaxMemory is a limit that is enforced: from four fifths of it on, a
// worker is replaced between calls.
type Keep struct {
	pool.Options
	// Threads runs the plain functions of one worker in threads, as many at once
	// as Concurrency says. It is for functions files alone.
	Threads bool
	// Preload is "off", "auto" or "force"; by default "auto".
	Preload string
	// DefaultConcurrency and DefaultMaxFailures hold where neither a flag nor the
	// manifest says otherwise, the former for functions files.
	DefaultConcurrency, DefaultMaxFailures int
}

// resolveKeep applies flag, manifest and default, in this order. Limits of the
// manifest that this system cannot enforce are left out: lacks says so. serves is that of
// the [Transport].
func resolveKeep(k Keep, m manifest.Manifest, serves bool) (resolved Keep, lacks string, err error) {
	asked := k.MaxMemory > 0
	k.Workers = cmp.Or(k.Workers, m.Workers, 1)
	if k.Workers == AutoWorkers {
		k.Workers = runtime.GOMAXPROCS(0)
	}
	usual := max(1, k.DefaultConcurrency)
	if serves {
		usual = manyCalls
	}
	k.Concurrency = cmp.Or(k.Concurrency, m.Concurrency, usual)
	k.Restart = cmp.Or(k.Restart, m.Restart.Policy, pool.Always)
	if k.MaxFailures == 0 {
		if k.MaxFailures = k.DefaultMaxFailures; m.Restart.Max != nil {
			k.MaxFailures = *m.Restart.Max
		}
	}
	k.Backoff = cmp.Or(k.Backoff, given(m.Restart.Backoff, AtOnce))
	k.BackoffMax = cmp.Or(k.BackoffMax, given(m.Restart.BackoffMax, AtOnce))
	k.HealthyAfter = cmp.Or(k.HealthyAfter, given(m.Restart.HealthyAfter, AtOnce))
	k.MaxMemory = max(0, cmp.Or(k.MaxMemory, m.Limits.Memory))
	k.MaxCalls = max(0, cmp.Or(k.MaxCalls, m.Limits.Calls))
	k.MaxAge = max(0, cmp.Or(k.MaxAge, m.Limits.Age))
	k.MaxFailures, k.IdleTime, k.QueueTimeout = max(0, k.MaxFailures), max(0, k.IdleTime), max(0, k.QueueTimeout)
	k.Preload = cmp.Or(k.Preload, m.Preload, "auto")
	switch {
	case serves && k.Threads:
		return k, "", errors.New("--threads applies only to functions files; the server of a gRPC plugin has its own threads")
	case serves && k.Preload == "force":
		return k, "", errors.New("preload applies only to functions files, and this is a gRPC plugin")
	case serves:
		k.Preload = "off"
	}
	err = proc.CheckMaxMemory(k.MaxMemory)
	if errors.Is(err, errors.ErrUnsupported) && !asked {
		k.MaxMemory = 0
		return k, err.Error(), nil
	}
	return k, "", err
}

// once returns the settings of one worker that is never restarted.
func (k Keep) once() Keep {
	k.Workers, k.Restart, k.Preload = 1, pool.No, "off"
	k.MaxCalls, k.MaxAge, k.IdleTime = 0, 0, 0
	return k
}

// tooMany is the note on more workers than make sense, empty if there are not.
func (k Keep) tooMany() string {
	cores := runtime.GOMAXPROCS(0)
	if k.Workers <= manyWorkers || k.Workers <= cores {
		return ""
	}
	return fmt.Sprintf("%d workers on %d cores; more than %d workers rarely help", k.Workers, cores, max(manyWorkers, cores))
}
