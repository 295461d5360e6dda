package hook

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"time"

	"github.com/pyplug/pyplug/runner/schema"
)

// Caller calls hooks. It is safe for concurrent use. A non-nil error is always
// an [*Error]. A session, an instance and a daemon's client are all Callers.
//
// Cancelling ctx, or passing its deadline, interrupts the call; the error is
// then of kind [Canceled] or [Timeout].
type Caller interface {
	Call(ctx context.Context, c Call) (Result, error)
}

// Plugin is a plugin that runs. A pool of workers and a daemon's client are
// Plugins. It is safe for concurrent use. A non-nil error is always an [*Error].
type Plugin interface {
	// Call calls one hook. Its time limit is ctx's, waiting for a worker included.
	Caller
	// Hooks describes the hooks. If name is empty it lists all; otherwise it
	// returns that one alone, with its template.
	Hooks(ctx context.Context, name string) (schema.Schema, error)
	// Health asks once whether the plugin is healthy: nil, or an *Error, of kind
	// [Unhealthy] if the plugin says that it is not.
	Health(ctx context.Context) error
	// Status reports how the plugin is. It does not wait for calls.
	Status(ctx context.Context) (Status, error)
	// Events yields every transition from now on, in order, until ctx ends or the
	// plugin is closed. A consumer that falls behind is told so by an error, once.
	Events(ctx context.Context) iter.Seq2[Event, error]
	// Restart replaces the workers, one after the other, each ready before the old
	// one stops. If one does not start, it returns that error and the rest stay.
	Restart(ctx context.Context, reason string) error
	// Close drains and then stops the plugin. Ending ctx kills it. A daemon's client
	// only disconnects.
	Close(ctx context.Context) error
}

// Call asks a plugin to run one hook. The zero value names no hook.
type Call struct {
	Hook string
	Args Args
	// Input is a client stream; nil when there is none. It is read from one
	// goroutine and not after Call has returned.
	Input iter.Seq2[json.RawMessage, error]
	// Emit receives the items of a streamed result in order, from one
	// goroutine, never after Call has returned; it may keep the message.
	// Blocking it is the backpressure; an error cancels the call. A nil Emit
	// collects the items into one JSON array.
	Emit func(Item) error
	// Limit is how long the call may run in the worker; 0 means as long as ctx
	// lasts. Where calls are sent ahead it counts from the call's turn: from when
	// the calls before it are answered.
	Limit time.Duration
	// Replay makes the call in every worker, now and after every restart. Such a
	// call has no Input.
	Replay bool
}

// Args are a call's arguments: words as they were typed, whose types are
// decided where the parameters are known, or JSON passed through unread. The
// zero value is no argument. Words and JSON exclude each other.
type Args struct {
	Words []schema.Word
	// JSON is one object (names), one array (positions) or nil.
	JSON json.RawMessage
}

// Item is one value that a hook gave: its result, or one of a stream.
type Item struct {
	// Value is one JSON value, passed through unread.
	Value json.RawMessage
	// Binary tells that the hook gave bytes: Value is their base64 text.
	Binary bool
	// Sole is the one field of a message that is a string or bytes; nil when
	// Value is no message, and when there is no such field or several.
	Sole *Sole
}

// Sole is the text of a message that has one. Binary tells that it is bytes.
type Sole struct {
	Text   string
	Binary bool
}

// Result is what a hook returned. Its Value is nil for a streamed result whose
// items went to [Call.Emit].
type Result struct {
	Item
	// Streamed tells that the result was a stream.
	Streamed bool
	Took     time.Duration
	// Notes are what the caller should know besides, such as that the plugin's
	// file has changed since it started.
	Notes []string
}

// Launcher starts processes of one plugin, and returns each once it has proved
// ready. When Launch returns an error, its process and all that it started are
// gone. Launch may be called from several goroutines; cancelling ctx ends the
// start. Errors are [*Error] of the kinds [Interpreter], [Start], [Handshake],
// [Unhealthy], [Timeout] and [Canceled].
type Launcher interface {
	Launch(ctx context.Context) (Instance, error)
	// Close ends what is kept between launches. Instances live on.
	Close(ctx context.Context) error
}

// Instance is one live plugin process: one launch, one handshake, one death.
type Instance interface {
	Caller
	// Describe lists the hooks.
	Describe(ctx context.Context) (schema.Schema, error)
	// Probe asks the plugin whether it is healthy: nil, or an *Error, of kind
	// [Unhealthy] when it says that it is not, else of those of a call.
	Probe(ctx context.Context) error
	// Concurrency is how many calls it takes at once, at least 1.
	Concurrency() int
	// Done is closed when the process and all that it started are gone.
	Done() <-chan struct{}
	// Exit says how it ended. It is valid once Done is closed.
	Exit() Exit
	// Stop walks the stop ladder and returns when the tree is gone. Ending ctx
	// skips to the kill. It may be called more than once and at the same time.
	Stop(ctx context.Context) error
	// Info is what is known of the process since it is ready.
	Info() Info
}

// Info says which process an instance is.
type Info struct {
	PID int
	// Python is the version that the process itself told, such as "3.12.4".
	Python string
	// Started is when the process was started, Ready how long it took from
	// there until it was ready.
	Started time.Time
	Ready   time.Duration
}

// Exit says how a process ended. The zero value is an exit with code 0.
type Exit struct {
	// Code is the exit code; -1 when a signal ended the process.
	Code int
	// Signal is the signal's name, such as "SIGSEGV"; empty without one.
	Signal string
	// OutOfMemory tells that the system killed a process for want of memory
	// while this one died by SIGKILL: probably this one.
	OutOfMemory bool
	// Limit tells that pyplug killed it because it took more than it was
	// allowed to, and by how much, such as "memory limit of 200 MB: it used 312
	// MB"; empty otherwise.
	Limit string
	// Uptime runs from the start to the exit.
	Uptime time.Duration
	// Stderr holds the last lines of standard error, the oldest first.
	Stderr []string
	// Stacks holds faulthandler's lines, where a hung Python was shown to be
	// just before it was killed.
	Stacks []string
	// Stopped tells that pyplug asked for the exit.
	Stopped bool
	// MaxRSS is the most memory the process had resident, in bytes; 0 when
	// the system does not tell.
	MaxRSS int64
	// Step is the last step of the stop ladder before it ended: "asked", by
	// word; "closed", the connection; "SIGTERM" or "SIGINT", whichever the
	// ladder sent; "SIGKILL". It is empty when the process ended by itself.
	// Except on Windows, which has no signals, the signal follows "closed" at
	// once, and is told of most processes that the closed connection ended.
	Step string
	// Left names what it left behind, at most 10 processes, each as "sleep (pid
	// 4711)": what it had started, in its group or out of it, that was there
	// when it was dead, did not go by itself within 100 ms, and had to be killed.
	// What was ended by the signal that ended it is not among them. macOS tells
	// only of the group, and Windows nothing.
	Left []string
}

// String is how it ended in a few words: "exit code 3" or "SIGSEGV".
func (e Exit) String() string {
	if e.Signal != "" {
		return e.Signal
	}
	return fmt.Sprintf("exit code %d", e.Code)
}
