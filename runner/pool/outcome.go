package pool

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

// outcome is the effect of a call on its instance. The zero value means that the call succeeded.
type outcome struct {
	lost  bool      // the instance takes no further calls
	retry bool      // the call never began and goes to another worker
	kind  hook.Kind // the kind of the call's error, or empty if the call succeeded
	begun bool      // a call that failed may have begun
	// unanswered is set if the plugin has not confirmed that an interrupted call has ended.
	unanswered bool
	// overdue says why the call was interrupted. It is empty if the call was not. If an
	// interrupted call does not stop, the instance is killed.
	overdue string
}

// outcomes maps the kind of an error of an instance's Call to its outcome.
var outcomes = map[hook.Kind]outcome{
	hook.Failed:      {},
	hook.Usage:       {},
	hook.Interpreter: {},
	hook.Request:     {},
	hook.Start:       {lost: true},
	hook.Handshake:   {lost: true},
	hook.Unhealthy:   {lost: true},
	hook.Crash:       {lost: true, retry: true},
	hook.Unavailable: {lost: true, retry: true}, // the instance rejects calls because it is about to exit
	hook.Timeout:     {},                        // an instance that hangs is killed, or misses its probes
	hook.Internal:    {},
	hook.Canceled:    {},
}

// panicked is the outcome of a call whose callback panicked. The hook itself may still run.
var panicked = outcome{lost: true, kind: hook.Internal}

// outcomeOf returns the outcome of a call that returned err.
func outcomeOf(err error) outcome {
	if err == nil {
		return outcome{}
	}
	var e *hook.Error // declared after the check, because it costs an allocation
	if !errors.As(err, &e) {
		return outcome{kind: hook.Internal}
	}
	o := outcomes[e.Kind]
	o.kind = e.Kind
	o.retry = o.retry && !e.Begun
	o.begun, o.unanswered = e.Begun, e.Unanswered
	if e.Kind == hook.Timeout || e.Kind == hook.Canceled {
		o.overdue = reasonOf(e)
	}
	return o
}

// The reasons of the errors that a pool creates.
const (
	reasonStopping    = "stopping"
	reasonFull        = "queue-full"
	reasonGaveUp      = "gave-up"
	reasonStopped     = "stopped"
	reasonBackoff     = "backoff"
	reasonStartFailed = "start-failed"
)

func stoppingError(hookName string) *hook.Error {
	return &hook.Error{Kind: hook.Unavailable, Reason: reasonStopping, Hook: hookName, Err: errors.New("the plugin is stopping")}
}

func fullError(hookName string, waiting int) *hook.Error {
	return &hook.Error{
		Kind: hook.Unavailable, Reason: reasonFull, Hook: hookName,
		Err: fmt.Errorf("the queue is full: %s waiting", schema.Plural(waiting, "call")),
		Hints: []schema.Hint{schema.Hintf("raise %s to let more calls wait", schema.Setting("queue")),
			schema.Hintf("raise %s or %s to run more calls at once", schema.Setting("workers"), schema.Setting("concurrency"))},
	}
}

// gaveUpError returns the error of calls after the failure limit was reached. It contains the
// last failure.
func gaveUpError(failures int, last *hook.Error) *hook.Error {
	e := withCause(&hook.Error{Kind: hook.Unavailable, Reason: reasonGaveUp}, last)
	e.Err = fmt.Errorf("the plugin failed %s in a row; giving up: %w", schema.Plural(failures, "time"), last)
	return e
}

// withCause returns a copy of e with the details of its cause.
func withCause(e, cause *hook.Error) *hook.Error {
	own := *e
	own.Python, own.At, own.Exit, own.Tried = cause.Python, cause.At, cause.Exit, cause.Tried
	return &own
}

// forCall returns e as the error of a call that was not made.
func forCall(hookName string, e *hook.Error) *hook.Error {
	own := *e
	own.Hook, own.Begun = hookName, false
	return &own
}

// retriedError returns the error of calls while the pool waits to repeat a failed start. If e is
// the error of a bootstrap call, the message says so, because the caller did not make that call.
func retriedError(e *hook.Error, when string) *hook.Error {
	own := *e
	if own.Err == nil {
		own.Err = errors.New(e.Error())
	}
	if e.Hook != "" {
		own.Kind, own.Err = hook.Start, fmt.Errorf("%s, called after each start: %w", e.Hook, own.Err)
	}
	if own.Reason == "" {
		own.Reason = reasonStartFailed
	}
	own.Hints = append(slices.Clone(e.Hints), schema.Hintf("change its files and call it to restart it at once; otherwise %s", when))
	return &own
}

// reasonOf returns an error as the reason of an event: the name of the hook that failed, if one
// did, and the first line of the error.
func reasonOf(e *hook.Error) string {
	reason, _, _ := strings.Cut(e.Error(), "\n")
	if e.Hook != "" {
		reason = e.Hook + ": " + reason
	}
	return reason
}
