package pool

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/pyplug/pyplug/runner/settings"
)

// Policy says when a worker is restarted. A zero duration means the default of its setting.
type Policy struct {
	// Restart is [settings.No], [settings.OnFailure] or [settings.Always]. Empty means
	// [settings.No].
	Restart string
	// Backoff is the delay after the first failure in a row. It doubles with each further
	// failure, up to BackoffMax. A random part of up to 25 % is added, within BackoffMax.
	Backoff, BackoffMax time.Duration
	// HealthyAfter is how long a worker must have been ready to reset the failure
	// count.
	HealthyAfter time.Duration
	// MaxFailures is the number of failures in a row after which the worker is not started
	// again. Zero means no limit.
	MaxFailures int
}

// withDefaults fills in the defaults.
func (p Policy) withDefaults() Policy {
	usual := settings.Defaults().Restart
	p.Restart = cmp.Or(p.Restart, settings.No)
	p.Backoff = cmp.Or(p.Backoff, usual.Backoff)
	p.BackoffMax = max(cmp.Or(p.BackoffMax, usual.BackoffMax), p.Backoff)
	p.HealthyAfter = cmp.Or(p.HealthyAfter, usual.HealthyAfter)
	return p
}

// ending is how a start or a run of a worker ended.
type ending struct {
	cause       string // one of the causes
	startFailed bool
	permanent   bool          // the start would fail again until the plugin changes
	duringCall  bool          // a call was the cause
	clean       bool          // exit code 0
	ready       time.Duration // how long it was ready
}

// The causes of an ending. The status counts restarts by cause.
const (
	causeCrash   = "crash"   // the plugin exited during a call
	causeExit    = "exit"    // the plugin exited while no call was running
	causeMemory  = "memory"  // it was killed because of its memory limit
	causeTimeout = "timeout" // it was killed because a call did not stop
	causeProbe   = "probe"   // it was killed because it missed its probes
	causeStart   = "start"   // it did not start
)

// action is the reaction to an ending.
type action uint8

const (
	restartNow  action = iota
	backOff            // restart after a delay
	giveUp             // after a failure; nothing starts until it is requested
	stayStopped        // after a clean exit; nothing starts until it is requested
)

// next decides how to react to an ending. failures is the number of failures in a row before it.
// next returns the action, its delay and the new number of failures. After an exit during a call,
// the worker restarts at once and the exit does not count as a failure, because the caller sets
// the pace. random is from 0 up to 1.
func (p Policy) next(e ending, failures int, random float64) (action, time.Duration, int) {
	if e.ready >= p.HealthyAfter {
		failures = 0
	}
	switch {
	case e.clean && !e.duringCall && p.Restart != settings.Always:
		return stayStopped, 0, failures
	case e.duringCall && p.Restart != settings.No:
		return restartNow, 0, failures
	}
	failures++
	if e.permanent || p.Restart == settings.No || p.MaxFailures > 0 && failures >= p.MaxFailures {
		return giveUp, 0, failures
	}
	return backOff, p.delay(failures, random), failures
}

// delay returns the back-off after a number of failures in a row.
func (p Policy) delay(failures int, random float64) time.Duration {
	d := p.Backoff
	for range failures - 1 {
		if d >= p.BackoffMax/2 {
			d = p.BackoffMax // d cannot overflow
			break
		}
		d *= 2
	}
	return min(d+time.Duration(random*float64(d)/4), p.BackoffMax)
}

const (
	// lookEvery is the time between two checks of the limits of an instance.
	lookEvery = time.Second
	// memoryShare is a percentage of the memory limit. An instance that uses more is replaced
	// between calls. An instance that reaches the limit itself is killed by its transport.
	memoryShare = 80
	// recycleAgain is the delay before the next attempt after a replacement did not start.
	recycleAgain = time.Minute
)

// recycles reports whether there are limits to check from time to time.
func (o Options) recycles() bool { return o.MaxAge > 0 || o.MaxMemory > 0 }

// newJitter returns the fraction by which the limits of an instance are lower, up to a quarter. It
// differs between instances, so that they are not all replaced at once.
func newJitter() float64 { return rand.Float64() / 4 }

// limit returns the limit of the instance, from the limit that the options set.
func (i *instance) limit(configured int64) int64 {
	return configured - int64(float64(configured)*i.jitter)
}

// look measures the memory of an instance, and makes its worker check the limits. p.mu is held.
func (p *Pool) look(i *instance) {
	if p.opt.MaxMemory > 0 && i.calls > 0 {
		var memory int64
		p.unlocked(func() { memory = p.opt.Memory(i.Info().PID) })
		i.memory = memory
	}
	i.worker.changed.Signal()
}

// recyclingDue returns the limit that an instance has reached and the reason to replace it. Both
// are "" if it has reached no limit. p.mu is held.
func (p *Pool) recyclingDue(i *instance) (limit, reason string) {
	o, age := p.opt, time.Since(i.ready)
	switch {
	case time.Now().Before(i.notBefore):
	case o.MaxCalls > 0 && i.calls >= uint64(i.limit(int64(o.MaxCalls))):
		return "calls", fmt.Sprintf("replacing the worker after %d calls", i.calls)
	case o.MaxAge > 0 && age >= time.Duration(i.limit(int64(o.MaxAge))):
		return "age", fmt.Sprintf("replacing the worker after %v", age.Round(time.Second))
	case o.MaxMemory > 0 && i.memory > o.MaxMemory/100*memoryShare:
		return "memory", fmt.Sprintf("replacing the worker: it uses %d MB, more than %d %% of --max-memory %d MB", i.memory>>20, memoryShare, o.MaxMemory>>20)
	}
	return "", ""
}
