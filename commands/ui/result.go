package ui

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

// Format says how a result is printed.
type Format uint8

// The formats of a result.
const (
	// Plain is the JSON value on one line.
	Plain Format = iota
	// Raw is a string as it is, bytes verbatim, nothing for null, the sole string or
	// bytes field of a message, and the JSON value of anything else.
	Raw
	// Envelope is one object with the hook, the duration and the process.
	Envelope
)

// Result prints what a hook returned on standard output. A streamed result whose items
// [Streams.Item] printed has no value: only its envelope is printed. The error is that
// of the write, see [IsClosedPipe], or of a value that is not what r says.
//
// An envelope is {"schema", "hook", "result", "binary", "took_ms", "pid",
// "generation"}. "binary" is true for bytes, whose result is base64 text. A streamed
// result without a value has "done": true in its place.
func (s *Streams) Result(f Format, hookName string, r hook.Result, info hook.Info, generation int) error {
	more := compactJSON(struct {
		Binary     bool              `json:"binary,omitempty"`
		TookMS     hook.Milliseconds `json:"took_ms"`
		PID        int               `json:"pid,omitempty"`
		Generation int               `json:"generation,omitempty"`
	}{r.Binary, hook.Milliseconds(r.Took), info.PID, generation})
	rest := "," + string(more[1:len(more)-1])
	switch {
	case !r.Streamed || len(r.Value) > 0:
		return s.writeItem(f, hookName, "result", r.Item, rest)
	case f == Envelope:
		return s.writeItem(f, hookName, "done", hook.Item{Value: []byte("true")}, rest)
	}
	return nil
}

// Item prints one item of a streamed result at once. Its envelope is {"schema",
// "hook", "item"}. Errors are those of [Streams.Result].
func (s *Streams) Item(f Format, hookName string, item hook.Item) error {
	return s.writeItem(f, hookName, "item", item, "")
}

// writeItem prints a value. Its envelope is {"schema", "hook", key: value}, with rest
// before its end.
func (s *Streams) writeItem(f Format, hookName, key string, item hook.Item, rest string) error {
	if f == Raw {
		return s.writeRaw(item)
	}
	value := s.asShown(item.Value)
	if f != Envelope {
		return s.writeOut(value, []byte("\n"))
	}
	start := withSchema(struct {
		Hook string `json:"hook"`
	}{hookName})
	return s.writeOut(start[:len(start)-1], []byte(`,"`+key+`":`), value, []byte(rest+"}\n"))
}

// writeRaw prints a string's text and a newline, bytes without one, nothing for null,
// the sole text of a message, and any other value as JSON.
func (s *Streams) writeRaw(item hook.Item) error {
	if field, binary := strings.CutSuffix(item.Sole, hook.SoleBytes); field != "" {
		var fields map[string]json.RawMessage
		if json.Unmarshal(item.Value, &fields) == nil { // a well-known type may be no object
			item.Value = fields[field]
			if item.Value == nil {
				item.Value = []byte(`""`)
			}
		}
		item.Binary = binary
	}
	value, end := item.Value, []byte("\n")
	switch {
	case item.Binary:
		var decoded []byte
		if err := json.Unmarshal(value, &decoded); err != nil {
			return fmt.Errorf("bytes of the result: %w", err)
		}
		return s.writeOut(decoded)
	case string(value) == "null":
		return nil
	case value[0] == '"':
		return s.writeOut(schema.Unquote(value), end)
	}
	return s.writeOut(s.asShown(value), end)
}

// asShown is the JSON that a hook returned: as it came, or harmless on a terminal.
func (s *Streams) asShown(value []byte) []byte {
	if s.OutTTY {
		return visibleJSON(value)
	}
	return value
}

// Lines is standard output for the answers of `run --lines`, while other things are
// shown. A Write gets whole lines of JSON. The error is that of the write, see
// [IsClosedPipe].
func (s *Streams) Lines() io.Writer { return linesOut{s} }

type linesOut struct{ s *Streams }

func (l linesOut) Write(lines []byte) (int, error) {
	return len(lines), l.s.writeOut(l.s.asShown(lines))
}
