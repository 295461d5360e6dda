package hook

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/pyplug/pyplug/runner/schema"
)

const (
	// jsonFactor is how many bytes of JSON a byte of a message takes at most: a text
	// may consist of escapes such as \u0001.
	jsonFactor = 6
	// jsonSlack is allowed beyond that, for names and white space.
	jsonSlack = 64 << 10

	blanks = " \t\r\n"
	// ByteOrderMark may be at the beginning of a file.
	ByteOrderMark = "\ufeff"
)

// Messages reads the [Call.Input] of a call: JSON values one after the other, on one line
// each or not. name is the file that its errors name. If ctx ends, it abandons a read that blocks. It stops reading a message that can no longer
// be one of at most limit bytes.
func Messages(ctx context.Context, from io.Reader, name string, limit int) iter.Seq2[json.RawMessage, error] {
	return func(yield func(json.RawMessage, error) bool) {
		r := &messageReader{from: bufio.NewReader(from), limit: limit}
		r.decoder = json.NewDecoder(r)
		for {
			message, err := Interruptible(ctx, r.next)
			ended := (*Error)(nil)
			switch {
			case errors.Is(err, io.EOF):
				return
			case errors.As(err, &ended) && ended.Kind == Canceled:
				yield(nil, Ended(ctx, "", "no end of "+name, false))
				return
			case err != nil:
				yield(nil, fmt.Errorf("%s: %w", name, err))
				return
			}
			if !yield(message, nil) {
				return
			}
		}
	}
}

// messageReader hands its input to a decoder, and keeps what the decoder has not returned
// yet, to name the line of an error.
type messageReader struct {
	from    *bufio.Reader
	decoder *json.Decoder
	limit   int // of a message, in bytes

	begun  bool
	text   []byte // read and not returned
	offset int64  // of text
	lines  int    // newlines before text
}

// next reads one message. Its error names the line.
func (r *messageReader) next() (message json.RawMessage, err error) {
	err = r.decoder.Decode(&message)
	syntax, long := (*json.SyntaxError)(nil), (*longInputError)(nil)
	switch {
	case err == nil:
		end := r.decoder.InputOffset()
		r.lines = r.line(end) - 1
		r.text, r.offset = r.text[end-r.offset:], end
	case errors.As(err, &syntax):
		err = fmt.Errorf("line %d is not JSON: %w", r.line(syntax.Offset-1), err)
	case errors.Is(err, io.ErrUnexpectedEOF):
		err = fmt.Errorf("line %d is not JSON: %w", r.line(r.offset+int64(len(bytes.TrimRight(r.text, blanks)))), err)
	case errors.As(err, &long):
		blank := len(r.text) - len(bytes.TrimLeft(r.text, blanks))
		err = fmt.Errorf("line %d: %w", r.line(r.offset+int64(blank)), err)
	}
	return message, err
}

// Read is called by the decoder when it needs more of a message. It skips a byte order
// mark at the beginning.
func (r *messageReader) Read(b []byte) (int, error) {
	if most := jsonFactor*r.limit + jsonSlack; len(r.text) > most {
		return 0, &longInputError{most: most, limit: r.limit}
	}
	if !r.begun {
		r.begun = true
		if first, _ := r.from.Peek(1); string(first) == ByteOrderMark[:1] { // the rest of another message may be late
			if mark, _ := r.from.Peek(len(ByteOrderMark)); string(mark) == ByteOrderMark {
				_, _ = r.from.Discard(len(mark)) // it is there
			}
		}
	}
	n, err := r.from.Read(b)
	r.text = append(r.text, b[:n]...)
	return n, err
}

// line is the line of an offset in text, counted from 1.
func (r *messageReader) line(offset int64) int {
	return 1 + r.lines + bytes.Count(r.text[:offset-r.offset], []byte("\n"))
}

// MessageHints are for a message that is too large.
var MessageHints = schema.Hints("raise %s to allow larger messages", schema.Setting("max-message"))

// longInputError says that a message takes so much JSON that it cannot be sent.
type longInputError struct{ most, limit int }

func (e *longInputError) Error() string {
	return fmt.Sprintf("it has more than %d bytes; --max-message is %d", e.most, e.limit)
}

// Hints names the setting.
func (e *longInputError) Hints() []schema.Hint { return MessageHints }
