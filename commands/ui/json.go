package ui

import (
	"encoding/json"

	"github.com/pyplug/pyplug/runner/hook"
)

// timeFormat is RFC 3339 with milliseconds.
const timeFormat = "2006-01-02T15:04:05.000Z07:00"

// writeJSON prints the fields of our shapes as a line on standard output, with
// "schema": 1 before them.
func (s *Streams) writeJSON(shapes ...any) error {
	return s.writeOut(withSchema(shapes...), []byte("\n"))
}

// withSchema joins our shapes, with "schema": 1 before them.
func withSchema(shapes ...any) []byte {
	schema := struct {
		Schema int `json:"schema"`
	}{1}
	return joinJSON(append([]any{schema}, shapes...)...)
}

// joinJSON writes the fields of several objects, none of them empty, as one object.
func joinJSON(objects ...any) json.RawMessage {
	joined := []byte{'{'}
	for _, object := range objects {
		fields := compactJSON(object)
		joined = append(append(joined, fields[1:len(fields)-1]...), ',')
	}
	joined[len(joined)-1] = '}'
	return joined
}

// compactJSON writes one of our shapes, which cannot fail, on one line, harmless for
// terminals and CI systems. It leaves <, > and & as they are.
func compactJSON(shape any) json.RawMessage {
	text, err := hook.Marshal(shape)
	if err != nil {
		panic("a shape of ours is not JSON: " + err.Error())
	}
	return visibleJSON(text)
}
