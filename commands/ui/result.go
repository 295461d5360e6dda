package ui

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"

	"github.com/pyplug/pyplug/runner/hook"
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
// [Streams.Item] printed has no value: only its envelope is printed. The value is
// written as it is, neither decoded nor, if it is large, copied. The error is that of
// the write, see [IsClosedPipe], or of a value that is not what r says.
//
// An envelope is {"schema", "hook", "result", "binary", "took_ms", "pid",
// "generation"}. "binary" is true for bytes, whose result is base64 text. A streamed
// result without a value has "done": true in its place.
func (s *Streams) Result(f Format, hookName string, r hook.Result, info hook.Info, generation int) error {
	more := compactJSON(struct {
		Binary     bool         `json:"binary,omitempty"`
		TookMS     milliseconds `json:"took_ms"`
		PID        int          `json:"pid,omitempty"`
		Generation int          `json:"generation,omitempty"`
	}{r.Binary, milliseconds(r.Took), info.PID, generation})
	rest := "," + string(more[1:len(more)-1])
	switch {
	case !r.Streamed || len(bytes.TrimSpace(r.Value)) > 0:
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
	s.outMu.Lock()
	defer s.outMu.Unlock()
	s.clearForOut()
	value := bytes.TrimSpace(item.Value)
	if f == Raw {
		return s.writeRaw(value, item)
	}
	if item.Binary {
		value = quoteBase64(value)
	} else {
		value = s.oneLine(value)
	}
	if f != Envelope {
		return s.writeLine(value)
	}
	start := withSchema(struct {
		Hook string `json:"hook"`
	}{hookName})
	w := s.lineWriter(len(start) + len(value) + len(rest))
	_, _ = w.Write(start[:len(start)-1])
	_, _ = w.WriteString(`,"` + key + `":`)
	_, _ = w.Write(value)
	_, _ = w.WriteString(rest + "}\n")
	return w.Flush() // or any error before it
}

// writeLine writes a value and a newline. Held: outMu.
func (s *Streams) writeLine(value []byte) error {
	w := s.lineWriter(len(value))
	_, _ = w.Write(value)
	_ = w.WriteByte('\n')
	return w.Flush()
}

// lineWriter buffers a line of about that size, so that one Write gets it. A large value
// is passed on without a copy.
func (s *Streams) lineWriter(size int) *bufio.Writer {
	const large, extra = 64 << 10, 64
	return bufio.NewWriterSize(s.Out, min(size+extra, large))
}

// Lines is standard output for the answers of `run --lines`, while other things are
// shown. A Write gets whole lines of JSON. The error is that of the write, see
// [IsClosedPipe].
func (s *Streams) Lines() io.Writer { return linesOut{s} }

type linesOut struct{ s *Streams }

func (l linesOut) Write(lines []byte) (int, error) {
	l.s.outMu.Lock()
	defer l.s.outMu.Unlock()
	l.s.clearForOut()
	shown := lines
	if l.s.OutTTY {
		shown = visibleJSON(lines)
	}
	if _, err := l.s.Out.Write(shown); err != nil {
		return 0, err
	}
	return len(lines), nil
}

// oneLine returns value on one line, escaped for a terminal. It is value itself if
// nothing has to change.
func (s *Streams) oneLine(value []byte) []byte {
	if len(value) == 0 {
		return []byte("null")
	}
	if bytes.IndexByte(value, '\n') >= 0 || bytes.IndexByte(value, '\r') >= 0 {
		var b bytes.Buffer
		if json.Compact(&b, value) == nil {
			value = b.Bytes()
		}
	}
	if s.OutTTY {
		return visibleJSON(value)
	}
	return value
}

// quoteBase64 makes a JSON string of base64 text, unless it is one already.
func quoteBase64(value []byte) []byte {
	if len(value) > 0 && value[0] == '"' {
		return value
	}
	return append(append([]byte{'"'}, value...), '"')
}

func writeBase64(w io.Writer, value []byte) error {
	text := bytes.Trim(value, `"`)
	if _, err := io.Copy(w, base64.NewDecoder(base64.StdEncoding, bytes.NewReader(text))); err != nil {
		return fmt.Errorf("bytes of the result: %w", err)
	}
	return nil
}
