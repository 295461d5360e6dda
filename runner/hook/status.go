package hook

import (
	"encoding/json"
	"time"
)

// Status says how a plugin that is kept alive is, and what it did. The zero
// Status is that of one which was never started. It belongs to the caller.
type Status struct {
	// State is that of the plugin as a whole, with several workers that of the
	// one that is best: as long as one takes calls, the plugin does.
	State State
	// Reason says why State is not [StateReady]; empty if it is.
	Reason string
	// Generation is that of the worker whose PID this is; 0 before the first
	// start. Each worker counts its own starts, from 1.
	Generation int
	// PID is the process of the first worker that is ready; 0 when none is.
	PID int
	// Workers is how many there are to be, Ready how many take calls.
	Workers, Ready int
	// Concurrency is how many calls run at once in all workers.
	Concurrency int
	// Since is when State was entered, Uptime how long the process of PID has
	// been running; 0 when none is ready.
	Since  time.Time
	Uptime time.Duration
	// Restarts counts the starts after a failed start and after an end that
	// nobody asked for, of all workers.
	Restarts int
	// Calls is how many calls ended in a worker, Failed how many failed, those
	// included that no worker took. Running and Queued are how many are under
	// way and how many wait.
	Calls, Failed   uint64
	Running, Queued int
	// Note says in one line what should be known of it besides, such as that its
	// files changed and do not start, so that the old workers stay, or why it does
	// not start; empty: nothing.
	Note string
	// LastExit is how the process ended that ended last, nil when none did.
	LastExit *Exit
	// NextStart is how long it is until the next start, 0 unless State is
	// [StateBackoff].
	NextStart time.Duration
	// Memory is how much memory the workers have resident, in bytes; 0 where
	// the system does not tell. What they share is counted by its share.
	Memory int64
	// Attach is how another program attaches to the plugin, as JSON; nil if none
	// can. See docs/json.md.
	Attach json.RawMessage
}
