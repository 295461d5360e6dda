package hook

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"
)

// MarshalText returns the state's name.
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

// The types without methods, so that encoding/json uses their fields.
type (
	plainStatus Status
	plainEvent  Event
)

// statusJSON is the public shape of a status, documented in docs/json.md.
type statusJSON struct {
	plainStatus
	Uptime    Milliseconds `json:"uptime_ms,omitempty"`
	NextStart Milliseconds `json:"next_restart_ms,omitempty"`
}

// MarshalJSON returns the status with the names of `status --json`.
func (s Status) MarshalJSON() ([]byte, error) {
	s.Reason, s.Note = validText(s.Reason), validText(s.Note)
	return marshal(statusJSON{plainStatus(s), Milliseconds(s.Uptime), Milliseconds(s.NextStart)})
}

// UnmarshalJSON reads the JSON of MarshalJSON.
func (s *Status) UnmarshalJSON(text []byte) error {
	var shape statusJSON
	if err := json.Unmarshal(text, &shape); err != nil {
		return err
	}
	*s = Status(shape.plainStatus)
	s.Uptime, s.NextStart = time.Duration(shape.Uptime), time.Duration(shape.NextStart)
	return nil
}

// eventJSON is the public shape of an event, documented in docs/json.md.
type eventJSON struct {
	plainEvent
	Delay Milliseconds `json:"delay_ms,omitempty"`
}

// MarshalJSON returns the event with the names of `--events`.
func (e Event) MarshalJSON() ([]byte, error) {
	e.Reason = validText(e.Reason)
	return marshal(eventJSON{plainEvent(e), Milliseconds(e.Delay)})
}

// UnmarshalJSON reads the JSON of MarshalJSON.
func (e *Event) UnmarshalJSON(text []byte) error {
	var shape eventJSON
	if err := json.Unmarshal(text, &shape); err != nil {
		return err
	}
	*e = Event(shape.plainEvent)
	e.Delay = time.Duration(shape.Delay)
	return nil
}

// Milliseconds is a duration that JSON has as milliseconds, to 100 ns.
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
