package ui

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"time"
	"unicode/utf8"

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
// [Streams.Item] printed has no value: only its envelope is printed. The value is
// written as it is, neither decoded nor, if it is large, copied. The error is that of
// the write, see [IsClosedPipe], or of a value that is not what r says.
//
// An envelope is {"schema", "hook", "result", "binary", "took_ms", "pid",
// "generation"}. "binary" is true for bytes, whose result is base64 text. A streamed
// result without a value has "done": true in its place.
func (s *Streams) Result(f Format, hookName string, r hook.Result, info hook.Info, generation int) error {
	value := bytes.TrimSpace(r.Value)
	if f != Envelope && r.Streamed && len(value) == 0 {
		return nil
	}
	s.outMu.Lock()
	defer s.outMu.Unlock()
	s.clearForOut()
	switch {
	case f == Envelope:
		return s.writeEnvelope(hookName, value, r, info, generation)
	case f == Raw:
		return s.writeRaw(r.Item)
	case r.Binary:
		return s.writeParts(nil, quoteBase64(value), []byte("\n"))
	}
	return s.writeParts(nil, s.oneLine(value), []byte("\n"))
}

// Item prints one item of a streamed result at once. Its envelope is {"schema",
// "hook", "item"}. Errors are those of [Streams.Result].
func (s *Streams) Item(f Format, hookName string, item hook.Item) error {
	value := bytes.TrimSpace(item.Value)
	s.outMu.Lock()
	defer s.outMu.Unlock()
	s.clearForOut()
	switch f {
	case Envelope:
		start := append(envelopeStart(hookName), `,"item":`...)
		return s.writeParts(start, s.oneLine(value), []byte("}\n"))
	case Raw:
		return s.writeRaw(item)
	}
	return s.writeParts(nil, s.oneLine(value), []byte("\n"))
}

// clearForOut erases the line of a wait if both streams are one terminal. It stays
// away while outMu is held. Held: outMu.
func (s *Streams) clearForOut() {
	if s.OutTTY && s.ErrTTY {
		s.waits.valuePrinted()
		s.screen.status(s.Err, "")
		s.screen.flush(writeTimeout)
	}
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
		shown = escapeJSON(lines)
	}
	if _, err := l.s.Out.Write(shown); err != nil {
		return 0, err
	}
	return len(lines), nil
}

// writeParts writes a line, in one Write unless it is large.
func (s *Streams) writeParts(start, value, end []byte) error {
	const small = 64 << 10
	if len(value) <= small {
		line := make([]byte, 0, len(start)+len(value)+len(end))
		_, err := s.Out.Write(append(append(append(line, start...), value...), end...))
		return err
	}
	for _, part := range [][]byte{start, value, end} {
		if len(part) == 0 {
			continue
		}
		if _, err := s.Out.Write(part); err != nil {
			return err
		}
	}
	return nil
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
		return escapeJSON(value)
	}
	return value
}

// escapeJSON escapes what a terminal would act on. JSON itself escapes everything below
// the blank; what remains is DEL, the C1 controls, and bytes that are not UTF-8. They
// occur only inside strings.
func escapeJSON(value []byte) []byte {
	var dst []byte
	start := 0
	for i := 0; i < len(value); {
		if c := value[i]; c < 0x7f {
			i++
			continue
		}
		r, size := utf8.DecodeRune(value[i:])
		broken := r == utf8.RuneError && size == 1
		if r < 0xa0 || broken {
			dst = append(dst, value[start:i]...)
			dst = fmt.Appendf(dst, `\u%04x`, r)
			start = i + size
		}
		i += size
	}
	if start == 0 {
		return value
	}
	return append(dst, value[start:]...)
}

func envelopeStart(hookName string) []byte {
	return schema.AppendQuote([]byte(`{"schema":1,"hook":`), hookName)
}

func (s *Streams) writeEnvelope(hookName string, value []byte, r hook.Result, info hook.Info, generation int) error {
	start, end := envelopeStart(hookName), envelopeEnd(r, info, generation)
	if r.Streamed && len(value) == 0 {
		return s.writeParts(start, []byte(`,"done":true`), end)
	}
	start = append(start, `,"result":`...)
	if r.Binary {
		return s.writeParts(start, quoteBase64(value), end)
	}
	return s.writeParts(start, s.oneLine(value), end)
}

func envelopeEnd(r hook.Result, info hook.Info, generation int) []byte {
	var b []byte
	if r.Binary {
		b = append(b, `,"binary":true`...)
	}
	b = append(append(b, `,"took_ms":`...), milliseconds(r.Took)...)
	if info.PID != 0 {
		b = strconv.AppendInt(append(b, `,"pid":`...), int64(info.PID), 10)
	}
	if generation != 0 {
		b = strconv.AppendInt(append(b, `,"generation":`...), int64(generation), 10)
	}
	return append(b, "}\n"...)
}

// milliseconds writes a duration for JSON, to the microsecond.
func milliseconds(d time.Duration) string {
	return strconv.FormatFloat(float64(d.Microseconds())/1000, 'f', -1, 64)
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
