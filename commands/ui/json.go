package ui

import (
	"bytes"
	"encoding/json"
	"strconv"
	"time"
)

// timeFormat is RFC 3339 with milliseconds.
const timeFormat = "2006-01-02T15:04:05.000Z07:00"

// milliseconds is a duration that JSON has as milliseconds, to the microsecond.
type milliseconds time.Duration

// MarshalJSON writes the number.
func (d milliseconds) MarshalJSON() ([]byte, error) {
	return strconv.AppendFloat(nil, float64(time.Duration(d).Microseconds())/1000, 'f', -1, 64), nil
}

// writeJSON prints one of our shapes as a line on standard output, see [withSchema].
func (s *Streams) writeJSON(shape any) error {
	line := withSchema(shape)
	if s.OutTTY {
		line = visibleJSON(line)
	}
	return s.writeOut(string(line) + "\n")
}

// withSchema writes one of our shapes on one line, with "schema": 1 as its first key.
func withSchema(shape any) []byte {
	return append([]byte(`{"schema":1,`), compactJSON(shape)[1:]...)
}

// compactJSON writes one of our shapes, which cannot fail, on one line.
func compactJSON(shape any) json.RawMessage {
	text, err := plainJSON(shape)
	if err != nil {
		panic("a shape of ours is not JSON: " + err.Error())
	}
	return guardJSON(text)
}

// plainJSON writes a value on one line and leaves <, > and & as they are.
func plainJSON(value any) (json.RawMessage, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(value)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}
