package hook

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"
)

// MarshalText writes the state's name.
func (s State) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads a state's name. Empty text is the zero State.
func (s *State) UnmarshalText(text []byte) error {
	i := slices.Index(stateNames[:], string(text))
	if i < 0 {
		return fmt.Errorf("unknown state %q", text)
	}
	*s = State(i)
	return nil
}

// statusJSON is the public shape of a status, documented in docs/json.md.
type statusJSON struct {
	State       State           `json:"state"`
	Reason      string          `json:"reason,omitempty"`
	PID         int             `json:"pid,omitempty"`
	Generation  int             `json:"generation,omitempty"`
	Workers     int             `json:"workers"`
	Ready       int             `json:"ready"`
	Concurrency int             `json:"concurrency,omitempty"`
	Since       *time.Time      `json:"since,omitempty"`
	Uptime      milliseconds    `json:"uptime_ms,omitempty"`
	Restarts    int             `json:"restarts"`
	Calls       uint64          `json:"calls"`
	Failed      uint64          `json:"failed"`
	Running     int             `json:"running"`
	Queued      int             `json:"queued"`
	Note        string          `json:"note,omitempty"`
	LastExit    *Exit           `json:"last_exit,omitempty"`
	NextStart   milliseconds    `json:"next_restart_ms,omitempty"`
	Memory      int64           `json:"memory_bytes,omitempty"`
	Attach      json.RawMessage `json:"attach,omitempty"`
}

// MarshalJSON writes the status with the names that `status --json` uses.
func (s Status) MarshalJSON() ([]byte, error) {
	shape := statusJSON{
		State: s.State, Reason: validText(s.Reason), PID: s.PID, Generation: s.Generation, Workers: s.Workers, Ready: s.Ready,
		Concurrency: s.Concurrency, Uptime: milliseconds(s.Uptime), Restarts: s.Restarts, Calls: s.Calls, Failed: s.Failed,
		Running: s.Running, Queued: s.Queued, Note: validText(s.Note), LastExit: s.LastExit, NextStart: milliseconds(s.NextStart),
		Memory: s.Memory, Attach: s.Attach,
	}
	if !s.Since.IsZero() {
		shape.Since = &s.Since
	}
	return marshal(shape)
}

// UnmarshalJSON reads what MarshalJSON writes.
func (s *Status) UnmarshalJSON(text []byte) error {
	var shape statusJSON
	if err := json.Unmarshal(text, &shape); err != nil {
		return err
	}
	*s = Status{
		State: shape.State, Reason: shape.Reason, PID: shape.PID, Generation: shape.Generation, Workers: shape.Workers, Ready: shape.Ready,
		Concurrency: shape.Concurrency, Uptime: time.Duration(shape.Uptime), Restarts: shape.Restarts, Calls: shape.Calls, Failed: shape.Failed,
		Running: shape.Running, Queued: shape.Queued, Note: shape.Note, LastExit: shape.LastExit, NextStart: time.Duration(shape.NextStart),
		Memory: shape.Memory, Attach: shape.Attach,
	}
	if shape.Since != nil {
		s.Since = *shape.Since
	}
	return nil
}

// eventJSON is the public shape of an event, documented in docs/json.md.
type eventJSON struct {
	Time       time.Time    `json:"time"`
	Worker     int          `json:"worker,omitempty"`
	Generation int          `json:"generation"`
	PID        int          `json:"pid,omitempty"`
	From       State        `json:"from,omitempty"`
	To         State        `json:"to"`
	Reason     string       `json:"reason,omitempty"`
	Exit       *Exit        `json:"exit,omitempty"`
	Delay      milliseconds `json:"delay_ms,omitempty"`
}

// MarshalJSON writes the event with the names that `--events` uses.
func (e Event) MarshalJSON() ([]byte, error) {
	return marshal(eventJSON{e.Time, e.Worker, e.Generation, e.PID, e.From, e.To, validText(e.Reason), e.Exit, milliseconds(e.Delay)})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (e *Event) UnmarshalJSON(text []byte) error {
	var shape eventJSON
	if err := json.Unmarshal(text, &shape); err != nil {
		return err
	}
	*e = Event{shape.Time, shape.Worker, shape.Generation, shape.PID, shape.From, shape.To, shape.Reason, shape.Exit, time.Duration(shape.Delay)}
	return nil
}

// milliseconds is a duration whose JSON is a number of milliseconds, to the
// microsecond.
type milliseconds time.Duration

func (m milliseconds) MarshalJSON() ([]byte, error) {
	return strconv.AppendFloat(nil, float64(time.Duration(m).Microseconds())/1000, 'f', -1, 64), nil
}

func (m *milliseconds) UnmarshalJSON(text []byte) error {
	n, err := strconv.ParseFloat(string(text), 64)
	*m = milliseconds(n * float64(time.Millisecond))
	return err
}
