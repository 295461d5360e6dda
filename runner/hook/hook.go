package hook

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"iter"
	"time"

	"github.com/pyplug/pyplug/runner/schema"
)

// Caller calls hooks. It is safe for concurrent use. Every error is an [*Error].
//
// If ctx is canceled or its deadline passes, the call is interrupted, and the
// error has kind [Canceled] or [Timeout].
type Caller interface {
	Call(ctx context.Context, c Call) (Result, error)
}

// Plugin is a running plugin. A pool of workers and a daemon's client are
// Plugins. It is safe for concurrent use. Every error is an [*Error].
type Plugin interface {
	// Call calls one hook. The deadline of ctx includes the wait for a worker.
	Caller
	// Hooks describes the hooks, or one of them.
	Hooks(ctx context.Context, q schema.Query) (schema.Schema, error)
	// Health probes the plugin once. It returns nil if the plugin is healthy, and
	// an error of kind [Unhealthy] if the plugin reports that it is not.
	Health(ctx context.Context) error
	// Status returns the current status. It does not wait for calls.
	Status(ctx context.Context) (Status, error)
	// Events yields every state change from now on, in order, until ctx ends or
	// the plugin is closed. If the consumer falls behind, it yields one error.
	Events(ctx context.Context) iter.Seq2[Event, error]
	// Restart replaces the workers one after another; each new one is ready before
	// the old one stops. If one does not start, Restart returns its error and
	// keeps the remaining workers.
	Restart(ctx context.Context, reason string) error
	// Close drains the calls, then stops the plugin. If ctx ends, Close kills the
	// plugin. A daemon's client only disconnects.
	Close(ctx context.Context) error
}

// Call is a request to run one hook.
type Call struct {
	Hook string
	Args Args
	// Input is a client stream, or nil. One goroutine reads it, and never after
	// Call has returned.
	Input iter.Seq2[json.RawMessage, error]
	// Emit receives the items of a streamed result in order. One goroutine calls
	// it, and never after Call has returned; Emit may keep the item. If Emit
	// blocks, the plugin waits; if it fails, the call is canceled. If Emit is
	// nil, the items are dropped.
	Emit func(Item) error
	// Replay calls the hook in every worker, now and after every restart. It
	// excludes Input.
	Replay bool
}

// Series is a list of calls that one instance makes in order. The instance receives calls before it
// has answered the earlier ones, so that it does not wait for the caller.
type Series struct {
	Calls []Call // the calls without an answer; their Emit is not used
	// Emit receives the items of the first of Calls, as [Call].Emit does. ctx ends with that call.
	Emit func(ctx context.Context, item Item) error
	// Limit is the timeout of each call, or 0 for no timeout. It starts at the previous answer.
	Limit time.Duration
	// FailFast skips the calls after a failed one.
	FailFast bool
	// Answered receives the outcome of the first of Calls as soon as it is known.
	Answered func(Result, *Error)
	// More returns further calls that are ready, at most n. A nil More returns no calls. CallSeries
	// calls More before the last of Calls is answered, so that the instance never waits for its
	// next call.
	More func(n int) []Call
	// Wanted reports whether the calls that have not begun could begin sooner elsewhere, or another
	// caller waits. slow says that the first call takes long. If Wanted returns true, CallSeries
	// hands the calls back. It may be called at any time. A nil Wanted means false.
	Wanted func(slow bool) bool
	// HandedBack receives the number of calls at the end of Calls that are handed back because they
	// have not begun. If it is nil, these stay in Calls.
	HandedBack func(n int)
}

// Extend adds up to n calls that More returns.
func (s *Series) Extend(n int) {
	if s.More != nil {
		s.Calls = append(s.Calls, s.More(n)...)
	}
}

// Answer reports the outcome of the first call, and removes it.
func (s *Series) Answer(r Result, err *Error) {
	s.Calls = s.Calls[1:]
	s.Answered(r, err)
}

// HandBack hands back the last n calls.
func (s *Series) HandBack(n int) {
	if n > 0 && s.HandedBack != nil {
		s.Calls = s.Calls[:len(s.Calls)-n]
		s.HandedBack(n)
	}
}

// MaxSeriesArgs is the largest size of the arguments, in bytes, of a call in a series.
const MaxSeriesArgs = 16 << 10

// SeriesCaller is a [Caller] that can make calls in a series.
type SeriesCaller interface {
	Caller
	// CallSeries makes the calls of s and those that s.More returns, until there are no more. It
	// stops earlier if calls are handed back, if it does not support series, or if the plugin
	// cannot accept calls now. The calls left in s.Calls have not begun.
	CallSeries(ctx context.Context, s *Series)
}

// Args are the arguments of a call: words as the user typed them, JSON, or both. The code that
// knows the parameters converts the words to their types. JSON is passed on unparsed. If both are
// set, every word has a name, and the arguments in JSON come first. The zero value means no
// arguments.
type Args struct {
	Words []schema.Word
	// JSON is an object (names), an array (positions) or nil.
	JSON json.RawMessage
	// Valid reports whether JSON, and the value of each word of form JSON, is known to be one JSON
	// value in UTF-8. If it is false, they are checked before they are sent.
	Valid bool
}

// Item is one value that a hook returned: its result, or one item of a stream. Its JSON is the JSON
// of a streamed item, except for bytes.
type Item struct {
	// Value is one JSON value, passed on unparsed. It is on one line, without surrounding blanks.
	// If Binary is set, Value contains the raw bytes.
	Value json.RawMessage `json:"item,omitempty"`
	// Binary reports whether the hook returned bytes.
	Binary bool `json:"binary,omitempty"`
	// Sole names the only string or bytes field of a message. [SoleBytes] follows the name of a
	// bytes field. Sole is empty if Value is not a message with exactly one such field. If the
	// field is empty, Value may omit it.
	Sole string `json:"sole,omitempty"`
}

// JSON returns the value as JSON. Bytes become a string with their base64 text.
func (i Item) JSON() json.RawMessage {
	if !i.Binary {
		return i.Value
	}
	text := make([]byte, 0, base64.StdEncoding.EncodedLen(len(i.Value))+len(`""`))
	return append(base64.StdEncoding.AppendEncode(append(text, '"'), i.Value), '"')
}

// SoleBytes follows a name in [Item.Sole] if the field's value is bytes in base64.
const SoleBytes = ";base64"

// Result is the result of a hook. Value is nil if the result is a stream.
type Result struct {
	Item
	// Streamed reports whether the result is a stream.
	Streamed bool
	Took     time.Duration
	// Notes are messages for the caller, such as that the plugin's file has
	// changed since it started.
	Notes []string
}

// Launcher starts processes of one plugin. It is safe for concurrent use.
type Launcher interface {
	// Launch starts a process and returns it when it is ready. If ctx ends, Launch
	// stops the process. After an error, the process and its children are gone. The
	// error has kind [Interpreter], [Start], [Handshake], [Unhealthy], [Timeout] or
	// [Canceled].
	Launch(ctx context.Context) (Instance, error)
	// Renew makes the next launch read the plugin's files again. It does not affect instances.
	Renew()
	// Close releases resources that are kept between launches. It does not stop
	// the instances.
	Close(ctx context.Context) error
}

// Instance is one live plugin process, from its handshake to its exit.
type Instance interface {
	SeriesCaller
	// Describe describes the hooks, or one of them.
	Describe(ctx context.Context, q schema.Query) (schema.Schema, error)
	// Probe checks the health of the plugin. It returns nil if the plugin is
	// healthy, an error of kind [Unhealthy] if the plugin reports that it is not,
	// or an error as from a call.
	Probe(ctx context.Context) error
	// Health is like Probe, for callers that report the plugin's health: a gRPC plugin without a
	// health service is not healthy.
	Health(ctx context.Context) error
	// Attach returns JSON that says how another host attaches to the process, or nil if that is
	// impossible.
	Attach() json.RawMessage
	// Concurrency returns the number of calls that it accepts at once, at least 1.
	Concurrency() int
	// Done is closed when the process and its children are gone.
	Done() <-chan struct{}
	// Exit describes how the process ended. It is valid after Done is closed.
	Exit() Exit
	// Stop runs the stop ladder and returns when the process tree is gone. If ctx
	// ends, Stop kills the tree at once. It may be called several times, also
	// concurrently.
	Stop(ctx context.Context) error
	// Crash kills the process from outside, as in a real crash. The error is [os.ErrProcessDone] if
	// it has exited.
	Crash() error
	// Info describes the process.
	Info() Info
	// Stack returns the stack of the main thread of a Python plugin, the oldest frame first, or nil
	// if it is unknown. It does not disturb the running call.
	Stack() []Frame
}

// Info describes the process of an instance.
type Info struct {
	PID int
	// Python is the version that the process reported, such as "3.12.4".
	Python string
	// Started is the time of the start. Ready is the duration from the start until the plugin was
	// ready.
	Started time.Time
	Ready   time.Duration
	// MayCollide reports whether a second instance may fail to start while this one
	// lives.
	MayCollide bool
}

// Exit describes how a process ended. The zero value is exit code 0.
type Exit struct {
	// Code is the exit code, or -1 if a signal ended the process.
	Code int `json:"-"`
	// Signal is the name of the signal that ended the process, such as "SIGSEGV", or empty.
	Signal string `json:"signal,omitempty"`
	// OutOfMemory reports whether this process died by SIGKILL while the system killed a process
	// because memory ran out. That process was probably this one.
	OutOfMemory bool `json:"out_of_memory,omitempty"`
	// Limit is the reason if pyplug killed the process because of a limit, such as "memory limit of
	// 200 MB: it used 312 MB", or empty.
	Limit string `json:"limit,omitempty"`
	// Uptime is the duration from the start to the exit.
	Uptime time.Duration `json:"-"`
	// Stderr contains the last lines of standard error, oldest first. For a functions file it
	// includes those of standard output.
	Stderr []string `json:"-"`
	// Stacks contains faulthandler's output of a hung Python before it was killed.
	Stacks []string `json:"-"`
	// Stopped reports whether pyplug requested the exit.
	Stopped bool `json:"-"`
	// Step is the last step of the stop ladder before the exit: "asked" (by the protocol), "closed"
	// (the connection), "SIGTERM" or "SIGINT", "SIGKILL". It is empty if the process exited by
	// itself. Except on Windows, which has no signals, the signal follows "closed" at once. So Step
	// names the signal even for most processes that the closed connection ended.
	Step string `json:"-"`
	// Left names up to 10 processes that the process left behind, each as "sleep (pid 4711)". These
	// are descendants, in its process group or not, that did not exit within 100 ms after it and
	// that pyplug had to kill. Processes ended by the same signal are not listed. It is empty on
	// macOS and Windows.
	Left []string `json:"-"`
}

// String returns "exit code 3" or "SIGSEGV", on Windows also "exit code 0xC0000005, access
// violation".
func (e Exit) String() string {
	switch name := ntStatus[e.Code]; {
	case e.Signal != "":
		return e.Signal
	case name != "":
		return fmt.Sprintf("exit code 0x%X, %s", e.Code, name)
	case e.Code > 0x7fffffff:
		return fmt.Sprintf("exit code 0x%X", e.Code)
	}
	return fmt.Sprintf("exit code %d", e.Code)
}

// ntStatus names the exit codes with which Windows ends a process.
var ntStatus = map[int]string{
	0x80000003: "breakpoint",
	0xC0000005: "access violation",
	0xC0000017: "out of memory",
	0xC000001D: "illegal instruction",
	0xC0000094: "integer division by zero",
	0xC00000FD: "stack overflow",
	0xC0000135: "a DLL was not found",
	0xC0000139: "a DLL lacks a function",
	0xC000013A: "interrupted by Ctrl-C",
	0xC0000142: "a DLL failed to start",
	0xC0000374: "heap corruption",
	0xC0000409: "fast fail, such as a buffer overrun",
}
