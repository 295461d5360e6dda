package commands

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
)

const (
	// jsonChunk is how much of its input a decoder is given at once.
	jsonChunk = 64 << 10
	// jsonFactor is how many bytes of JSON there are to one of a message, at most:
	// a text may be all escapes such as \u0001. Names of fields and blanks are on
	// top of that, for which a small message has jsonChunk.
	jsonFactor = 6

	jsonBlanks = " \t\r\n"
)

// messages reads JSON values one after the other, in lines or not. A read that
// waits when ctx ends is left. What cannot be a message of at most limit bytes any
// more is not read to its end.
func messages(ctx context.Context, from io.Reader, name string, limit int) iter.Seq2[json.RawMessage, error] {
	began := time.Now()
	return func(yield func(json.RawMessage, error) bool) {
		next := newMessageReader(from, limit).next
		for {
			message, err := hook.Interruptible(ctx, next)
			if errors.Is(err, io.EOF) {
				return
			}
			if left := (*hook.Error)(nil); errors.As(err, &left) {
				yield(nil, hook.Ended(ctx, "", "no end of "+name, began, false))
				return
			}
			if err != nil {
				yield(nil, fmt.Errorf("%s: %w", name, err))
				return
			}
			if !yield(message, nil) {
				return
			}
		}
	}
}

// messageReader reads messages by a decoder that it gives its input. It leaves out
// the blanks between messages, which the decoder would keep, and counts lines for
// errors. Offsets are the decoder's, to which those blanks do not count.
type messageReader struct {
	from    *bufio.Reader
	decoder *json.Decoder
	limit   int // of a message
	lines   int // that were read
	// The last message ended at ended. The decoder was given what is before given,
	// and behind solid that is blank.
	ended, given, solid int64
}

func newMessageReader(from io.Reader, limit int) *messageReader {
	r := &messageReader{from: bufio.NewReaderSize(from, jsonChunk), limit: limit}
	r.decoder = json.NewDecoder(r)
	return r
}

// next reads one message.
func (r *messageReader) next() (message json.RawMessage, err error) {
	r.ended = r.decoder.InputOffset()
	if err := r.decoder.Decode(&message); err != nil {
		return nil, r.place(err)
	}
	return message, nil
}

// Read is for the decoder, which wants more of a message.
func (r *messageReader) Read(b []byte) (int, error) {
	if most := jsonFactor*int64(r.limit) + jsonChunk; r.given-r.ended > most {
		return 0, &longInputError{most: most, limit: r.limit}
	}
	if r.given == 0 {
		r.skipMark()
	}
	for {
		if _, err := r.from.Peek(1); err != nil {
			return 0, err
		}
		text, _ := r.from.Peek(r.from.Buffered()) // which is there
		skipped := 0
		if r.solid <= r.ended { // no message has begun
			skipped = len(text) - len(bytes.TrimLeft(text, jsonBlanks))
		}
		n := copy(b, text[skipped:])
		r.lines += bytes.Count(text[:skipped+n], []byte("\n"))
		if solid := len(bytes.TrimRight(b[:n], jsonBlanks)); solid > 0 {
			r.solid = r.given + int64(solid)
		}
		r.given += int64(n)
		_, _ = r.from.Discard(skipped + n) // which is there
		if n > 0 {
			return n, nil
		}
	}
}

// skipMark leaves out a byte order mark. It does not wait for one.
func (r *messageReader) skipMark() {
	if first, _ := r.from.Peek(1); string(first) != byteOrderMark[:1] {
		return
	}
	if mark, _ := r.from.Peek(len(byteOrderMark)); string(mark) == byteOrderMark {
		_, _ = r.from.Discard(len(mark)) // which is there
	}
}

// place adds the line to an error.
func (r *messageReader) place(err error) error {
	var (
		syntax *json.SyntaxError
		long   *longInputError
	)
	switch {
	case errors.As(err, &syntax):
		return fmt.Errorf("line %d is not JSON: %w", r.line(syntax.Offset-1), err)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("line %d is not JSON: %w", r.line(r.given-1), err) // not behind the last newline
	case errors.As(err, &long):
		head, _ := io.ReadAll(io.LimitReader(r.decoder.Buffered(), jsonChunk)) // of what is in memory
		blank := len(head) - len(bytes.TrimLeft(head, jsonBlanks))
		return fmt.Errorf("line %d: %w", r.line(r.ended+int64(blank)), err)
	}
	return err
}

// line is that of an offset behind the last message. What the decoder was given
// since is in its buffer.
func (r *messageReader) line(offset int64) int {
	behind := newlines(0)
	rest := r.decoder.Buffered()
	_, _ = io.CopyN(io.Discard, rest, offset-r.ended)
	_, _ = io.Copy(&behind, rest)
	return 1 + r.lines - int(behind)
}

// newlines counts those that are written to it.
type newlines int

func (n *newlines) Write(b []byte) (int, error) {
	*n += newlines(bytes.Count(b, []byte("\n")))
	return len(b), nil
}

// longInputError says that a message takes so much JSON that it cannot be one that
// is sent.
type longInputError struct {
	most  int64
	limit int
}

func (e *longInputError) Error() string {
	return fmt.Sprintf("it takes more than %d bytes, --max-message is %d", e.most, e.limit)
}

// Hints names the flag.
func (e *longInputError) Hints() []string { return []string{"--max-message allows larger messages"} }
