package ui

import (
	"io"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/hook/wire"
)

// Format says how a result is printed.
type Format uint8

// The formats of a result.
const (
	// Plain is the JSON value on one line.
	Plain Format = iota
	// Raw is a string without quotes, bytes verbatim, nothing for null, the only string
	// or bytes field of a message, and the JSON of any other value.
	Raw
	// Envelope is one object with the hook, the duration and the process.
	Envelope
)

// Result prints a hook's result on standard output. A streamed result, whose items
// [Streams.Item] printed, has no value, so Result prints only its envelope. It returns an
// error of the write, see [IsClosedPipe], or of a value that is not what r says.
//
// An envelope is {"schema", "hook", "result", "binary", "took_ms", "pid",
// "generation"}. "binary" is true for bytes, whose result is base64 text. A streamed
// result has "done": true in place of the value.
func (s *Streams) Result(f Format, hookName string, r hook.Result, info hook.Info, generation int) error {
	more := compactJSON(struct {
		TookMS     hook.Milliseconds `json:"took_ms"`
		PID        int               `json:"pid,omitempty"`
		Generation int               `json:"generation,omitempty"`
	}{hook.Milliseconds(r.Took), info.PID, generation})
	rest := "," + string(more[1:len(more)-1])
	switch {
	case !r.Streamed:
		return s.writeItem(f, hookName, "result", r.Item, rest)
	case f == Envelope:
		return s.writeItem(f, hookName, "done", hook.Item{Value: []byte("true")}, rest)
	}
	return nil
}

// Item prints one item of a streamed result at once. Its envelope is {"schema",
// "hook", "item", "binary"}. Errors are those of [Streams.Result].
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
	if item.Binary {
		rest = `,"binary":true` + rest
	}
	return s.writeOut(start[:len(start)-1], []byte(`,"`+key+`":`), value, []byte(rest+"}\n"))
}

// writeRaw prints what --raw prints.
func (s *Streams) writeRaw(item hook.Item) error {
	text, newline, err := wire.AppendRaw(nil, item, s.asShown)
	switch {
	case err != nil || len(text) == 0 && !newline:
		return err
	case newline:
		return s.writeOut(text, []byte("\n"))
	}
	return s.writeOut(text)
}

// RawLine appends the line of `run --lines --raw` for a result or an item: what
// --raw prints, with a newline even for bytes and null.
func (s *Streams) RawLine(dst []byte, item hook.Item) []byte {
	dst, _, _ = wire.AppendRaw(dst, item, s.asShown) // a worker's base64 is valid
	return append(dst, '\n')
}

// asShown returns a hook's JSON unchanged, or harmless if standard output is a terminal.
func (s *Streams) asShown(value []byte) []byte {
	if s.OutTTY {
		return visibleJSON(value)
	}
	return value
}

// Lines returns standard output for the answers of `run --lines`: lines of JSON, or with raw
// the lines of [Streams.RawLine]. Its error is that of the write, see [IsClosedPipe].
func (s *Streams) Lines(raw bool) io.Writer { return linesOut{s, raw} }

type linesOut struct {
	s   *Streams
	raw bool
}

func (l linesOut) Write(lines []byte) (int, error) {
	if l.raw {
		return len(lines), l.s.writeOut(lines)
	}
	return len(lines), l.s.writeOut(l.s.asShown(lines))
}
