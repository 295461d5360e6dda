package hook

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pyplug/pyplug/runner/schema"
)

// Kind is the class of an error. Its text is its name in messages and JSON. It decides the exit
// code and whether the instance is kept, each in one table.
type Kind string

// The kinds of error. The zero Kind is invalid.
const (
	Failed      Kind = "hook"        // the hook raised, returned an error, or its result cannot be represented
	Usage       Kind = "usage"       // wrong flags or arguments of pyplug
	Interpreter Kind = "interpreter" // no Python, a broken environment, a version outside requires-python
	Request     Kind = "request"     // no such hook, or arguments that do not fit it
	Start       Kind = "start"       // exited or failed before it was ready
	Handshake   Kind = "handshake"   // no handshake before the timeout, or a malformed or rejected one
	Unhealthy   Kind = "unhealthy"   // started, but reports that it is not serving
	Crash       Kind = "crash"       // exited during the call
	Unavailable Kind = "unavailable" // the plugin does not run, the queue is full, or pyplug gave up
	Timeout     Kind = "timeout"     // a call timed out
	Internal    Kind = "internal"    // a bug in pyplug
	Canceled    Kind = "canceled"    // interrupted or terminated
)

// OutputFailed is the reason of an error while writing to standard output or a record. Such an
// error is printed on standard error, even in JSON.
const OutputFailed = "output"

// Kinds returns every kind, for tables that need a row for each.
func Kinds() []Kind {
	return []Kind{Failed, Usage, Interpreter, Request, Start, Handshake, Unhealthy, Crash, Unavailable, Timeout, Internal, Canceled}
}

// Error is the error type that runner, interp and the manifest return. Its public JSON is
// documented in docs/json.md. Its fields do not change after it is returned.
type Error struct {
	// Kind decides the exit code and whether the instance is kept.
	Kind Kind `json:"kind"`
	// Reason is a stable word that refines Kind, such as "no-hook", "queue-full" or "gave-up". It
	// may be empty.
	Reason string `json:"reason,omitempty"`
	// Hook is the name of the called hook, or empty before a call.
	Hook string `json:"hook,omitempty"`
	// Begun reports whether the call may have begun. If so, it is never
	// retried. In JSON it is "sent".
	Begun bool `json:"sent"`
	// Unanswered reports whether the caller stopped waiting and the plugin has not
	// confirmed that the call has ended. Only a probe shows whether the plugin responds.
	Unanswered bool `json:"-"`
	// Python is the exception that the plugin raised, or nil.
	Python *Raised `json:"python,omitempty"`
	// Status is the gRPC status that the plugin returned, or nil.
	Status *RPCStatus `json:"-"`
	// At is the plugin's stack when a call timed out or was canceled, oldest frame first. It is
	// empty if unknown.
	At []Frame `json:"at,omitempty"`
	// Place is the path of the wrong value in an argument or a result, such as "$.items[3]", or
	// empty if no value is wrong.
	Place string `json:"place,omitempty"`
	// Unknown is the name of an argument that the hook does not have, or empty.
	Unknown string `json:"unknown,omitempty"`
	// Word is the number, from 1, of the word that has the name Unknown. If Unknown is empty, it is
	// the number of the word that the hook does not accept, or 0 if no single word is wrong.
	Word int `json:"word,omitempty"`
	// Exit describes how the process ended. It is nil if the process still runs.
	Exit *Exit `json:"exit,omitempty"`
	// Tried lists the attempts, one per line.
	Tried []string `json:"tried,omitempty"`
	// Hints say what to do. The code that knows the cause sets them, and [Word] formats
	// them.
	Hints []schema.Hint `json:"-"`
	// Drawing contains lines that show the place, such as the handshake line with carets below the
	// wrong field.
	Drawing []string `json:"drawing,omitempty"`
	// Permanent reports whether a start that failed with this error fails again until
	// the plugin's files, interpreter or environment change.
	Permanent bool `json:"-"`
	// Alone reports whether a start failed only because another instance of the
	// plugin lives.
	Alone bool `json:"-"`
	// Plugin names the plugin and its Python, such as "greeter.py (python 3.12.4, .venv)". It is
	// empty if the error does not concern a plugin.
	Plugin string `json:"plugin,omitempty"`
	// Err is the cause. It may be nil if Python is set.
	Err error `json:"-"`
}

// NewError returns an error of a kind with err as its cause. It copies the details of an *Error in
// the chain, and those of package schema about a wrong argument or hook.
func NewError(kind Kind, err error) *Error {
	e := &Error{Kind: kind, Err: err}
	if inner, ok := errors.AsType[*Error](err); ok {
		e.Hints, e.Drawing, e.Reason, e.Permanent = inner.Hints, inner.Drawing, inner.Reason, inner.Permanent
	}
	if bad, ok := errors.AsType[*schema.ArgumentError](err); ok {
		e.Place, e.Unknown, e.Word, e.Hints = bad.Place, bad.Unknown, bad.Word, bad.Hints
	}
	if none, ok := errors.AsType[*schema.NoHookError](err); ok {
		e.Reason, e.Hints = "no-hook", none.Hints()
	}
	return e
}

// AsError returns the *Error in err's chain, or a new one of kind [Internal] if
// there is none. It returns nil for nil.
func AsError(err error) *Error {
	if err == nil {
		return nil
	}
	if e := (*Error)(nil); errors.As(err, &e) {
		return e
	}
	return NewError(Internal, err)
}

// Error returns the message without kind and hook, such as "ValueError: no name".
func (e *Error) Error() string {
	switch {
	case e.Err != nil:
		return e.Err.Error()
	case e.Python != nil:
		return e.Python.Headline()
	default:
		return string(e.Kind)
	}
}

// Located returns the message with the place and the source line of the innermost frame, such as
// "SyntaxError: invalid syntax at greeter.py:3: def f(:".
func (e *Error) Located() string {
	if e.Python == nil || len(e.Python.Frames) == 0 {
		return e.Error()
	}
	last := e.Python.Frames[len(e.Python.Frames)-1]
	text := fmt.Sprintf("%s at %s:%d", e.Error(), filepath.Base(string(last.File)), last.Line)
	if code := strings.TrimSpace(last.Text); code != "" {
		text += ": " + code
	}
	return text
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// RPCStatus is a gRPC status other than OK.
type RPCStatus struct {
	// Code is the name of the code, such as "INVALID_ARGUMENT".
	Code string `json:"status,omitempty"`
	// Details are the attached messages, each as JSON with its "@type".
	Details []json.RawMessage `json:"details,omitempty"`
	// Message is omitted in the JSON of an error whose message contains it.
	Message string `json:"status_message,omitempty"`
}

// Raised is a Python exception with the frames of the user's code.
type Raised struct {
	Type    string  `json:"type"`
	Message string  `json:"message"`
	Frames  []Frame `json:"frames,omitempty"`
	// Cause is the exception in Python's __cause__ or __context__.
	Cause *Raised `json:"cause,omitempty"`
	// Group contains the members of an exception group.
	Group []*Raised `json:"group,omitempty"`
}

// Headline returns "Type: message", or only the type if there is no message.
func (r *Raised) Headline() string {
	if r.Message == "" {
		return r.Type
	}
	return r.Type + ": " + r.Message
}

// permanentExceptions lists exceptions that an import raises again until a file changes.
var permanentExceptions = []string{"SyntaxError", "IndentationError", "TabError", "ImportError", "ModuleNotFoundError"}

// Permanent reports whether an import that raised this exception raises it again until a file
// changes, because a source has a syntax error or imports a missing module. A nil exception is not
// permanent.
func (r *Raised) Permanent() bool { return r != nil && slices.Contains(permanentExceptions, r.Type) }

// Hints returns hints about an exception of a plugin whose working directory is dir.
func (r *Raised) Hints(dir string) []schema.Hint {
	for ; r != nil; r = r.Cause {
		switch r.Type {
		case "EOFError":
			return schema.Hints("pass the text as an argument, because a plugin has no standard input; %s calls the function in the terminal", schema.Command{"run", "--pdb"})
		case "bdb.BdbQuit":
			return schema.Hints("call the function in the terminal with %s, or use a debugger that listens, see %s", schema.Command{"run", "--pdb"}, schema.Command{"help", "debugging"})
		case "FileNotFoundError":
			return schema.Hints("set the working directory with %s; relative paths start there, now at %s", schema.Setting("cwd"), dir)
		}
	}
	return nil
}

// Frame is one line of a traceback. Text is the source line, or empty if it cannot be read.
type Frame struct {
	File     schema.Path `json:"file"`
	Line     int         `json:"line"`
	Function string      `json:"function,omitempty"`
	Text     string      `json:"text,omitempty"`
	// Column is the position of a syntax error in Text, in characters from 1, or 0 if unknown.
	Column int `json:"column,omitempty"`
	// Repeated counts the repetitions of the frame, or of the last Cycle frames up to it if Cycle
	// is not 0.
	Repeated int `json:"repeated,omitempty"`
	Cycle    int `json:"cycle,omitempty"`
}

// String returns the place, such as "greeter.py:3 in greet".
func (f Frame) String() string {
	where := fmt.Sprintf("%s:%d", f.File, f.Line)
	if f.Function != "" {
		where += " in " + f.Function
	}
	return where
}

// LimitError is the error of a wait that reached its limit.
type LimitError struct {
	// What describes the missing event, such as "the import did not finish". It is empty if a call
	// timed out.
	What string
	// Limit may be 0 if it is unknown.
	Limit time.Duration
}

// Error returns a message such as "the import did not finish within 10m0s" or "timed out
// after 1s".
func (e *LimitError) Error() string {
	switch {
	case e.What == "" && e.Limit == 0:
		return "timed out"
	case e.What == "":
		return "timed out after " + e.Limit.String()
	case e.Limit == 0:
		return e.What + " in time"
	}
	return e.What + " within " + e.Limit.String()
}

// These types have no methods, so that encoding/json uses their fields.
type (
	plainError Error
	plainExit  Exit
)

// errorJSON is the public shape of an error, documented in docs/json.md. It repeats Kind
// and Reason so that they come first.
type errorJSON struct {
	Kind    Kind   `json:"kind"`
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message"`
	// Hint has one line per hint.
	Hint string `json:"hint,omitempty"`
	plainError
	*RPCStatus
}

// MarshalJSON returns the JSON that `--json` prints and the daemon sends, on one
// line.
func (e *Error) MarshalJSON() ([]byte, error) {
	shape := errorJSON{
		Kind: e.Kind, Reason: e.Reason, Message: e.Error(), Hint: strings.Join(Words(e.Hints), "\n"),
		plainError: plainError(*e), RPCStatus: e.Status,
	}
	if s := e.Status; s != nil && strings.Contains(shape.Message, s.Message) {
		shape.RPCStatus = &RPCStatus{Code: s.Code, Details: s.Details}
	}
	return Marshal(shape)
}

// UnmarshalJSON reads the JSON of MarshalJSON. It restores only the message of the cause. An
// unknown kind becomes [Internal].
func (e *Error) UnmarshalJSON(text []byte) error {
	var shape errorJSON
	if err := schema.Decode(text, &shape); err != nil {
		return err
	}
	*e = Error(shape.plainError)
	e.Kind, e.Reason, e.Status, e.Err = shape.Kind, shape.Reason, shape.RPCStatus, errors.New(shape.Message)
	if !slices.Contains(Kinds(), e.Kind) {
		e.Kind = Internal
	}
	if shape.Hint != "" {
		for hint := range strings.SplitSeq(shape.Hint, "\n") {
			e.Hints = append(e.Hints, schema.Hintf(hint))
		}
	}
	return nil
}

// exitJSON is the public shape of an [Exit]. It has either Code or Signal.
type exitJSON struct {
	Code *int `json:"code,omitempty"`
	plainExit
	After  Milliseconds `json:"after_ms"`
	Stderr []string     `json:"stderr,omitempty"`
	Stacks []string     `json:"stacks,omitempty"`
}

// MarshalJSON returns the value of "exit" in an error and of "last_exit" in a
// status.
func (e Exit) MarshalJSON() ([]byte, error) {
	shape := exitJSON{plainExit: plainExit(e), After: Milliseconds(e.Uptime), Stderr: e.Stderr, Stacks: e.Stacks}
	if e.Signal == "" {
		shape.Code = &e.Code
	}
	return Marshal(shape)
}

// UnmarshalJSON reads the JSON of MarshalJSON.
func (e *Exit) UnmarshalJSON(text []byte) error {
	var shape exitJSON
	if err := schema.Decode(text, &shape); err != nil {
		return err
	}
	*e = Exit(shape.plainExit)
	e.Code, e.Uptime, e.Stderr, e.Stacks = -1, time.Duration(shape.After), shape.Stderr, shape.Stacks
	if shape.Code != nil {
		e.Code = *shape.Code
	}
	return nil
}

// Marshal encodes a value on one line without escaping <, > and &.
func Marshal(value any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(value)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

var stackLine = regexp.MustCompile(`^  File "(.*)", line (\d+) in (.*)$`)

// StackFrames parses the output of Python's faulthandler.dump_traceback. It returns the frames of
// the current thread, or else of the first thread, oldest frame first. It ignores other lines.
func StackFrames(lines []string) []Frame {
	threads, current := [][]Frame{nil}, 0
	for _, line := range lines {
		newest := len(threads) - 1
		if strings.HasPrefix(line, "Thread ") || strings.HasPrefix(line, "Current thread ") {
			threads = append(threads, nil)
			if strings.HasPrefix(line, "Current ") {
				current = newest + 1
			}
		} else if m := stackLine.FindStringSubmatch(line); m != nil {
			number, _ := strconv.Atoi(m[2]) // the pattern has only digits
			threads[newest] = append(threads[newest], Frame{File: schema.Path(m[1]), Line: number, Function: m[3]})
		}
	}
	for _, thread := range append([][]Frame{threads[current]}, threads...) {
		if len(thread) > 0 {
			slices.Reverse(thread)
			return FoldFrames(thread)
		}
	}
	return nil
}
