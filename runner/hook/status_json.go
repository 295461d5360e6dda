package hook

import (
	"strconv"
	"time"
)

// MarshalJSON returns the status with the names of `status --json`.
func (s Status) MarshalJSON() ([]byte, error) {
	type plain Status // without this method
	s.Reason, s.Note = validText(s.Reason), validText(s.Note)
	return Marshal(plain(s))
}

// MarshalJSON returns the event with the names of `--events`.
func (e Event) MarshalJSON() ([]byte, error) {
	type plain Event // without this method
	e.Reason = validText(e.Reason)
	return Marshal(plain(e))
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
