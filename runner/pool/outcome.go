package pool

import (
	"errors"

	"github.com/pyplug/pyplug/runner/hook"
)

// outcome is what follows from a call for its instance. The zero value is that of a
// call that succeeded.
type outcome struct {
	lost   bool // the instance takes no further calls
	retry  bool // the call never began and goes to another worker
	failed bool
}

// outcomes say what follows from an error of an instance's Call, by its kind.
var outcomes = map[hook.Kind]outcome{
	hook.Failed:      {},
	hook.Usage:       {},
	hook.Interpreter: {},
	hook.Request:     {},
	hook.Start:       {lost: true},
	hook.Handshake:   {lost: true},
	hook.Unhealthy:   {lost: true},
	hook.Crash:       {lost: true, retry: true},
	hook.Unavailable: {lost: true, retry: true}, // it rejects calls: it is about to exit
	hook.Timeout:     {},                        // the instance itself gives the call up, or exits
	hook.Internal:    {},
	hook.Canceled:    {},
}

// panicked is the outcome of a call that did not return, because a callback panicked:
// it may go on for ever.
var panicked = outcome{lost: true, failed: true}

// outcomeOf returns what follows from a call that returned err.
func outcomeOf(err error) outcome {
	if err == nil {
		return outcome{}
	}
	var e *hook.Error // after the check: it costs an allocation
	if !errors.As(err, &e) {
		return outcome{failed: true}
	}
	o := outcomes[e.Kind]
	o.failed = true
	o.retry = o.retry && !e.Begun
	return o
}
