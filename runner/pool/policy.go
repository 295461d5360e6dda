package pool

import (
	"cmp"
	"time"
)

// The restart policies: after which exits a worker is restarted.
const (
	No        = "no"         // never
	OnFailure = "on-failure" // except after exit code 0 while no call was running
	Always    = "always"     // after every exit that was not requested
)

// Policy says when a worker is restarted. In the zero value the fields have the
// defaults that they name.
type Policy struct {
	// Restart is [No], [OnFailure] or [Always]; empty: [No].
	Restart string
	// Backoff is the delay after the first failure in a row, 0: 1 s. It doubles with
	// each further failure, up to BackoffMax, 0: 60 s. Up to 25 % is added at random,
	// within BackoffMax.
	Backoff, BackoffMax time.Duration
	// HealthyAfter is how long a worker must have been ready to reset the failure
	// count; 0: 10 s.
	HealthyAfter time.Duration
	// MaxFailures is the number of failures in a row after which the worker is given
	// up; 0: never.
	MaxFailures int
}

// withDefaults fills in the defaults.
func (p Policy) withDefaults() Policy {
	p.Restart = cmp.Or(p.Restart, No)
	p.Backoff = cmp.Or(p.Backoff, time.Second)
	p.BackoffMax = max(cmp.Or(p.BackoffMax, time.Minute), p.Backoff)
	p.HealthyAfter = cmp.Or(p.HealthyAfter, 10*time.Second)
	return p
}

// ending is how a start or a run of a worker ended.
type ending struct {
	startFailed bool
	permanent   bool          // the start fails again until the plugin changes
	duringCall  bool          // a call was the cause
	clean       bool          // exit code 0
	ready       time.Duration // how long it was ready
}

// action is what follows an ending.
type action uint8

const (
	restartNow  action = iota
	backOff            // restart after a delay
	giveUp             // something is wrong, and nothing is started until somebody asks
	stayStopped        // nothing is wrong, and nothing is started until somebody asks
)

// next decides what follows an ending after so many failures in a row, and returns
// the new number of failures. An exit during a call restarts at once and does not
// count: its caller paces it. The random number is from 0 up to 1.
func (p Policy) next(e ending, failures int, random float64) (action, time.Duration, int) {
	if e.ready >= p.HealthyAfter {
		failures = 0
	}
	switch {
	case e.clean && !e.duringCall && p.Restart != Always:
		return stayStopped, 0, failures
	case e.duringCall && p.Restart != No:
		return restartNow, 0, failures
	}
	failures++
	if e.permanent || p.Restart == No || p.MaxFailures > 0 && failures >= p.MaxFailures {
		return giveUp, 0, failures
	}
	return backOff, p.delay(failures, random), failures
}

// delay is the back-off after so many failures in a row.
func (p Policy) delay(failures int, random float64) time.Duration {
	d := p.Backoff
	for range failures - 1 {
		if d >= p.BackoffMax/2 {
			d = p.BackoffMax // and so it never overflows
			break
		}
		d *= 2
	}
	return min(d+time.Duration(random*float64(d)/4), p.BackoffMax)
}
