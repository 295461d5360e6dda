package hook

import "time"

// State is the state of a plugin that is kept alive, by its name in messages and JSON.
// The zero State is that before its first start.
type State string

// The states, from the worst to the best. The reason for a state is in the [Event],
// never in the state itself.
const (
	StateStopped  State = "stopped"  // does not run, without an error
	StateFailed   State = "failed"   // does not run, and does not restart by itself
	StateStopping State = "stopping" // stops
	StateBackoff  State = "backoff"  // exited, and restarts after a delay
	StateStarting State = "starting" // the process starts and runs its bootstrap calls
	StateDegraded State = "degraded" // accepts calls, but reports that it is not healthy
	StateReady    State = "ready"    // accepts calls
)

// Takes reports whether a plugin in this state accepts calls.
func (s State) Takes() bool { return s == StateReady || s == StateDegraded }

// Event is one state change of a plugin that is kept alive.
//
// While one instance replaces another, the events of both generations
// interleave. Those of the replacement begin with the zero From.
type Event struct {
	Time time.Time `json:"time"`
	// Worker is the number of the worker, from 1; 0 if there is only one.
	Worker int `json:"worker,omitempty"`
	// Generation is the number of the worker's start, from 1.
	Generation int `json:"generation"`
	// PID is the worker's process; 0 before it is ready.
	PID  int   `json:"pid,omitempty"`
	From State `json:"from,omitempty"`
	To   State `json:"to"`
	// Reason explains the change in one line, such as "the plugin exited during a call".
	Reason string `json:"reason,omitempty"`
	// Exit describes how the process ended, nil if none ended. On a change to
	// starting it is the exit of the previous generation.
	Exit *Exit `json:"exit,omitempty"`
	// Delay is the time until the next start, on a change to backoff.
	Delay Milliseconds `json:"delay_ms,omitempty"`
}
