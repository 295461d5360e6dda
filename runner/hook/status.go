package hook

import (
	"encoding/json"
	"strconv"
	"time"
)

// State is the state of a plugin that is kept alive. Its text is its name in messages and JSON. The
// zero State means never started.
type State string

// The states, from the worst to the best. The reason for a state is in the [Event],
// never in the state itself.
const (
	StateStopped  State = "stopped"  // not running, without an error
	StateFailed   State = "failed"   // not running, and does not restart by itself
	StateStopping State = "stopping" // stopping
	StateBackoff  State = "backoff"  // exited; restarts after a delay
	StateStarting State = "starting" // the process starts and runs its bootstrap calls
	StateDegraded State = "degraded" // accepts calls, but reports that it is not healthy
	StateReady    State = "ready"    // accepts calls
)

// Takes reports whether a plugin in this state accepts calls.
func (s State) Takes() bool { return s == StateReady || s == StateDegraded }

// Ended reports whether a plugin in this state does not run and does not restart by itself.
func (s State) Ended() bool { return s == StateStopped || s == StateFailed }

// Event is one state change of a plugin that is kept alive.
//
// While one instance replaces another, the events of both generations interleave. The first event
// of the replacement has the zero From.
type Event struct {
	Time time.Time `json:"time"`
	// Worker is the number of the worker, from 1, or 0 if there is only one.
	Worker int `json:"worker,omitempty"`
	// Generation is the number of the worker's start, from 1.
	Generation int `json:"generation"`
	// PID is the worker's process, or 0 before it is ready.
	PID  int   `json:"pid,omitempty"`
	From State `json:"from,omitempty"`
	To   State `json:"to"`
	// Reason explains the change in one line, such as "the plugin exited during a call".
	Reason string `json:"reason,omitempty"`
	// Exit describes how the process ended, or is nil. On a change to starting it describes the
	// exit of the previous generation.
	Exit *Exit `json:"exit,omitempty"`
	// Delay is the time until the next start, for a change to backoff.
	Delay Milliseconds `json:"delay_ms,omitempty"`
}

// Status is the state of a plugin that is kept alive, with its counts. The zero Status means that
// the plugin has never started.
type Status struct {
	// State is the best state of all workers: the plugin accepts calls if at least one worker does.
	State State `json:"state"`
	// Reason says why State is not [StateReady]; it is empty for StateReady.
	Reason string `json:"reason,omitempty"`
	// Generation is the generation of the process PID, or 0 before the first start. Each worker
	// counts its own starts, from 1.
	Generation int `json:"generation,omitempty"`
	// PID is the process of the first ready worker, or 0.
	PID int `json:"pid,omitempty"`
	// Workers is the configured number of workers. Ready is the number of workers that accept
	// calls.
	Workers int `json:"workers"`
	Ready   int `json:"ready"`
	// Concurrency is the number of calls that all workers can run at once.
	Concurrency int `json:"concurrency,omitempty"`
	// Since is the time of the change to State.
	Since time.Time `json:"since,omitzero"`
	// Restarts counts the starts of all workers after a failed start or an
	// unexpected exit.
	Restarts int `json:"restarts"`
	// RestartCauses counts the restarts by cause: "crash" (the plugin exited during a call), "exit"
	// (it exited between calls), "memory" (it exceeded its memory limit), "timeout" (a call did not
	// stop), "probe" (it missed its probes), "start" (it did not start).
	RestartCauses map[string]int `json:"restart_causes,omitempty"`
	// LastRestart says why the last restart happened, as its event does, and how the process ended.
	// It is empty before the first restart.
	LastRestart string `json:"last_restart,omitempty"`
	// LastRestartAt is the time of the last restart.
	LastRestartAt time.Time `json:"last_restart_at,omitzero"`
	// Replacements counts the workers that were replaced because of a limit: "memory", "calls" or
	// "age". LastReplacement is the reason of the last replacement, or empty.
	Replacements    map[string]int `json:"replacements,omitempty"`
	LastReplacement string         `json:"last_replacement,omitempty"`
	// Calls counts the calls that finished in a worker. Failed counts the failed calls, including
	// those that no worker accepted. Running and Queued are the numbers of calls that run and that
	// wait.
	Calls  uint64 `json:"calls"`
	Failed uint64 `json:"failed"`
	// Failures counts the failed calls by kind.
	Failures map[Kind]uint64 `json:"failures,omitempty"`
	Running  int             `json:"running"`
	Queued   int             `json:"queued"`
	// RunningCalls lists the running calls, the oldest first, at most [MaxRunningCalls].
	RunningCalls []RunningCall `json:"running_calls,omitempty"`
	// Hooks are the finished calls by hook. Their times include the time in the queue. Settings are
	// the settings of the start that differ from the defaults, by flag or key. Only a plugin that
	// is kept under a name has Hooks and Settings.
	Hooks    []HookCalls       `json:"hooks,omitempty"`
	Settings map[string]string `json:"settings,omitempty"`
	// Note is one line of other information, or empty. For example, it says why the plugin does not
	// start, or that its changed files do not start and the old workers remain.
	Note string `json:"note,omitempty"`
	// LastExit describes the exit of the last process that ended, or is nil.
	LastExit *Exit `json:"last_exit,omitempty"`
	// Memory is the resident memory of the plugin's processes and their descendants in bytes, or 0
	// if unknown.
	Memory int64 `json:"memory_bytes,omitempty"`
	// CPU is the processor time of the processes that Memory counts, or 0 if unknown.
	CPU Milliseconds `json:"cpu_ms"`
	// Attach is the JSON with which another program can attach to the plugin, or nil. See
	// docs/json.md.
	Attach json.RawMessage `json:"attach,omitempty"`
	// Uptime is the age of the process PID, or 0 if no worker is ready.
	Uptime Milliseconds `json:"uptime_ms,omitempty"`
	// NextStart is the time until the next start, or 0 unless State is [StateBackoff].
	NextStart Milliseconds `json:"next_restart_ms,omitempty"`
}

// MaxRunningCalls is the number of running calls that a [Status] lists.
const MaxRunningCalls = 100

// RunningCall is a call that runs in a worker.
type RunningCall struct {
	Hook string       `json:"hook"`
	Age  Milliseconds `json:"age_ms"`
	// Worker is the number of its worker, from 1, or 0 if there is only one. PID is its process.
	Worker int `json:"worker,omitempty"`
	PID    int `json:"pid"`
	// At is the stack of the main thread of that process, the oldest frame first. It is nil unless
	// it was requested and is known.
	At []Frame `json:"at,omitempty"`
}

// HookCalls are the finished calls of one hook. P50 and P99 are estimates.
type HookCalls struct {
	Hook   string       `json:"hook"`
	Calls  uint64       `json:"calls"`
	Failed uint64       `json:"failed"`
	Mean   Milliseconds `json:"mean_ms"`
	P50    Milliseconds `json:"p50_ms"`
	P99    Milliseconds `json:"p99_ms"`
	Max    Milliseconds `json:"max_ms"`
}

// Milliseconds is a duration that JSON represents in milliseconds, with a precision of 100 ns.
type Milliseconds time.Duration

// MarshalJSON writes the number.
func (m Milliseconds) MarshalJSON() ([]byte, error) {
	return strconv.AppendFloat(nil, float64(m/100)/1e4, 'f', -1, 64), nil
}

// UnmarshalJSON reads the number.
func (m *Milliseconds) UnmarshalJSON(text []byte) error {
	n, err := strconv.ParseFloat(string(text), 64)
	*m = Milliseconds(n * float64(time.Millisecond))
	return err
}
