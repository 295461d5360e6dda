package hook

import (
	"encoding/json"
	"time"
)

// Status is the state of a plugin that is kept alive, with its counts. The zero
// Status is that of a plugin that has never started.
type Status struct {
	// State is the best state of all workers: the plugin accepts calls while one
	// worker does.
	State State `json:"state"`
	// Reason says why State is not [StateReady]; empty if it is.
	Reason string `json:"reason,omitempty"`
	// Generation is the generation of the process PID; 0 before the first start.
	// Each worker counts its own starts, from 1.
	Generation int `json:"generation,omitempty"`
	// PID is the process of the first ready worker; 0 if none is ready.
	PID int `json:"pid,omitempty"`
	// Workers is the configured number of workers, Ready how many accept calls.
	Workers int `json:"workers"`
	Ready   int `json:"ready"`
	// Concurrency is the number of calls that all workers can run at once.
	Concurrency int `json:"concurrency,omitempty"`
	// Since is the time of the change to State.
	Since time.Time `json:"since,omitzero"`
	// Restarts counts the starts of all workers after a failed start or an
	// unexpected exit.
	Restarts int `json:"restarts"`
	// Calls counts the calls that finished in a worker, Failed the failed calls,
	// including those that no worker accepted. Running and Queued are the numbers
	// of calls that run and that wait.
	Calls   uint64 `json:"calls"`
	Failed  uint64 `json:"failed"`
	Running int    `json:"running"`
	Queued  int    `json:"queued"`
	// Note is one line of other information, such as why the plugin does not
	// start, or that its changed files do not start and the old workers remain;
	// empty if there is none.
	Note string `json:"note,omitempty"`
	// LastExit describes the exit of the last process that ended, nil if none did.
	LastExit *Exit `json:"last_exit,omitempty"`
	// Memory is the resident memory of the workers in bytes, shared memory
	// divided among them; 0 if the system does not report it.
	Memory int64 `json:"memory_bytes,omitempty"`
	// Attach is the JSON that another program needs to attach to the plugin, nil
	// if that is impossible. See docs/json.md.
	Attach json.RawMessage `json:"attach,omitempty"`
	// Uptime is the age of the process PID; 0 if none is ready.
	Uptime Milliseconds `json:"uptime_ms,omitempty"`
	// NextStart is the time until the next start, 0 unless State is
	// [StateBackoff].
	NextStart Milliseconds `json:"next_restart_ms,omitempty"`
}
