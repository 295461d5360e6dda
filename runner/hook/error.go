package hook

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// Kind says what went wrong. It decides the exit code and the fate of the
// instance, each in one table.
type Kind uint8

// The kinds of error. The zero Kind is none of them.
const (
	_           Kind = iota
	Failed           // the hook raised, returned an error, or its result cannot be represented
	Usage            // flags and arguments of pyplug
	Interpreter      // no Python, a broken environment, a version outside requires-python
	Request          // no such hook, or arguments that do not fit it
	Start            // ended or failed before it was ready
	Handshake        // none in time, malformed, refused
	Unhealthy        // started, but does not say serving
	Crash            // ended during the call
	Unavailable      // not running, queue full, gave up
	Timeout          // a call ran out of time
	Internal         // a bug in pyplug
	Canceled         // interrupted or terminated
)

var kindNames = [...]string{
	Failed: "hook", Usage: "usage", Interpreter: "interpreter", Request: "request", Start: "start",
	Handshake: "handshake", Unhealthy: "unhealthy", Crash: "crash", Unavailable: "unavailable",
	Timeout: "timeout", Internal: "internal", Canceled: "canceled",
}

// Kinds lists every kind, for tables that must have a row for each.
func Kinds() []Kind {
	kinds := make([]Kind, 0, len(kindNames)-1)
	for k := Failed; int(k) < len(kindNames); k++ {
		kinds = append(kinds, k)
	}
	return kinds
}

// String is the kind's name in messages and in JSON, such as "crash".
func (k Kind) String() string {
	if k == 0 || int(k) >= len(kindNames) {
		return fmt.Sprintf("kind(%d)", uint8(k))
	}
	return kindNames[k]
}

// Error is the only error type that leaves runner. It is its own JSON, see
// [Error.MarshalJSON]. Its fields are not changed once it is returned.
type Error struct {
	// Kind decides the exit code and what becomes of the instance.
	Kind Kind
	// Reason is a stable word where Kind is too coarse, such as "no-hook",
	// "queue-full" or "gave-up"; empty otherwise.
	Reason string
	// Hook is the hook that was called, empty before a call.
	Hook string
	// Begun reports whether the call may have begun. If so, it is never sent
	// again. In JSON it is "sent".
	Begun bool
	// Python is what the plugin raised, nil if it raised nothing.
	Python *Raised
	// Status is the gRPC status that the plugin answered with, nil if none.
	Status *RPCStatus
	// At is where the plugin was when a call timed out or was canceled, the
	// oldest frame first; empty if unknown.
	At []Frame
	// Place is where in an argument or a result the error is, such as
	// "$.items[3]"; empty if it is about no value.
	Place string
	// Exit is how the process ended, nil if it did not.
	Exit *Exit
	// Tried lists what was tried, a line each.
	Tried []string
	// Hints say what to do, a line each. They are set where the cause is known.
	Hints []string
	// Drawing are lines that show the place, such as the handshake's line with
	// carets below the wrong field.
	Drawing []string
	// Plugin names the plugin and its Python, such as "greeter.py (python
	// 3.12.4, .venv)"; empty if no plugin is concerned.
	Plugin string
	// Err is the cause. It is nil only if Python says it all.
	Err error
}

// NewError returns an error of a kind with err as its cause. It collects what the
// causes know: an *Error, or an error of a room below, which may have the methods
// Hints() []string, Drawing() []string and Reason() string.
func NewError(kind Kind, err error) *Error {
	e := &Error{Kind: kind, Err: err}
	var (
		hinted interface{ Hints() []string }
		drawn  interface{ Drawing() []string }
		known  interface{ Reason() string }
	)
	if inner := (*Error)(nil); errors.As(err, &inner) {
		e.Hints, e.Drawing, e.Reason = inner.Hints, inner.Drawing, inner.Reason
	}
	if errors.As(err, &hinted) {
		e.Hints = hinted.Hints()
	}
	if errors.As(err, &drawn) {
		e.Drawing = drawn.Drawing()
	}
	if errors.As(err, &known) {
		e.Reason = known.Reason()
	}
	return e
}

// AsError returns the *Error in err's chain. An error without one becomes an
// error of kind [Internal]; nil stays nil.
func AsError(err error) *Error {
	if err == nil {
		return nil
	}
	if e := (*Error)(nil); errors.As(err, &e) {
		return e
	}
	return NewError(Internal, err)
}

// Error is the message without kind and hook, such as "ValueError: no name".
func (e *Error) Error() string {
	switch {
	case e.Err != nil:
		return e.Err.Error()
	case e.Python != nil:
		return e.Python.Headline()
	default:
		return e.Kind.String()
	}
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// RPCStatus is a gRPC status other than OK.
type RPCStatus struct {
	// Code is the code's name, such as "INVALID_ARGUMENT".
	Code    string `json:"code"`
	Message string `json:"message,omitempty"`
	// Details are the messages sent along, each as JSON with its "@type".
	Details []json.RawMessage `json:"details,omitempty"`
}

// Raised is a Python exception with the user's own frames.
type Raised struct {
	Type    string  `json:"type"`
	Message string  `json:"message"`
	Frames  []Frame `json:"frames,omitempty"`
	// Cause is the exception that this one was raised from, or while
	// handling which it was raised.
	Cause *Raised `json:"cause,omitempty"`
	// Group holds the members of an exception group.
	Group []*Raised `json:"group,omitempty"`
}

// Headline is "Type: message", or the type alone when there is no message.
func (r *Raised) Headline() string {
	if r.Message == "" {
		return r.Type
	}
	return r.Type + ": " + r.Message
}

// Frame is one line of a traceback, the oldest first. Text is the source line,
// empty when it cannot be read.
type Frame struct {
	File     string `json:"file"`
	Line     int    `json:"line"`
	Function string `json:"function,omitempty"`
	Text     string `json:"text,omitempty"`
	// Column is where Text is wrong, counted in characters from 1; 0 where
	// not known. A syntax error has it.
	Column int `json:"column,omitempty"`
}

// LimitError says that a wait reached its limit.
type LimitError struct {
	// What did not happen, such as "the import did not end".
	What  string
	Limit time.Duration
}

// Error is such as "the import did not end within 10m0s".
func (e *LimitError) Error() string { return e.What + " within " + e.Limit.String() }
