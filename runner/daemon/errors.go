package daemon

import (
	"errors"
	"fmt"

	"github.com/pyplug/pyplug/runner/hook"
)

// NotRunningError says that nobody serves a name.
type NotRunningError struct{ Name string }

// Error names the name.
func (e *NotRunningError) Error() string { return "nothing runs under the name " + e.Name }

// VersionError says that who serves a name is another build of pyplug, which may
// take and answer calls in another way. [Look] reaches it all the same.
type VersionError struct {
	Name string
	// Daemon is its version.
	Daemon string
}

// Error names the version.
func (e *VersionError) Error() string {
	return fmt.Sprintf("%s was started by another pyplug, %s", e.Name, e.Daemon)
}

// TakenError says that a name is taken by a daemon that is alive.
type TakenError struct {
	Name string
	// By is who has it; the zero Identity when that one has not said so yet.
	By Identity
}

// Error names the plugin that has the name.
func (e *TakenError) Error() string {
	if e.By.Entry == "" {
		return "the name " + e.Name + " is taken"
	}
	return "the name " + e.Name + " is taken by " + e.By.Entry
}

// UnansweredError says that a process has a name, and answers nobody: it was
// suspended, or hangs. [Stop] ends it.
type UnansweredError struct {
	Name string
	// By is who has it, as far as its files say.
	By Identity

	place place
}

// Error names the name and the process.
func (e *UnansweredError) Error() string {
	by := "a process"
	if e.By.PID > 0 {
		by = fmt.Sprintf("process %d", e.By.PID)
	}
	return "the name " + e.Name + " is held by " + by + ", which does not answer"
}

// unanswered is the error of a place whose holder does not answer.
func unanswered(p place) *hook.Error {
	by, _ := p.readState() // whoever it is
	return unavailable(&UnansweredError{Name: p.name, By: by, place: p})
}

// StoppingError says that a daemon ends, and takes no calls any more.
type StoppingError struct{ Name string }

// Error names the name.
func (e *StoppingError) Error() string { return e.Name + " is being stopped" }

// stoppingReason is what tells the other side of a socket that an error is one.
const stoppingReason = "stopping"

// Reason is how it crosses a socket.
func (e *StoppingError) Reason() string { return stoppingReason }

// LostError says that a daemon ended, or closed the connection, before it
// answered.
type LostError struct {
	Name string
	// Err is what the connection said.
	Err error
}

// Error says what the connection said.
func (e *LostError) Error() string {
	if e.Err == nil {
		return "the daemon of " + e.Name + " ended during the call"
	}
	return "the daemon of " + e.Name + " ended during the call: " + e.Err.Error()
}

// Unwrap returns what the connection said.
func (e *LostError) Unwrap() error { return e.Err }

var (
	errClosed   = errors.New("the connection is closed")
	errWindows  = errors.New("background plugins are not available on Windows")
	errGone     = errors.New("its caller is gone")
	errCanceled = errors.New("interrupted")
)

// unavailable is an error of kind Unavailable.
func unavailable(err error) *hook.Error { return &hook.Error{Kind: hook.Unavailable, Err: err} }
