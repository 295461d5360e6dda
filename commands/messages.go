package commands

import (
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
	// jsonFactor is how many bytes of JSON a byte of a message takes at most: a text
	// may consist of escapes such as \u0001.
	jsonFactor = 6
	// jsonSlack is allowed beyond that, for names and white space.
	jsonSlack = 64 << 10

	blanks = " \t\r\n"
)

// messages reads JSON values one after the other, on one line each or not. If ctx
// ends, it abandons a read that blocks. It stops reading a message that can no longer
// be one of at most limit bytes.
func messages(ctx context.Context, from io.Reader, name string, limit int) iter.Seq2[json.RawMessage, error] {
	began := time.Now()
	return func(yield func(json.RawMessage, error) bool) {
		r := &messageReader{from: from, limit: limit}
		r.decoder = json.NewDecoder(r)
		for {
			message, err := hook.Interruptible(ctx, r.next)
			switch {
			case errors.Is(err, io.EOF):
				return
			case asCanceled(err) != nil:
				yield(nil, hook.Ended(ctx, "", "no end of "+name, began, false))
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

// messageReader hands its input to a decoder, and knows in which line the decoder is.
type messageReader struct {
	from    io.Reader
	decoder *json.Decoder
	limit   int   // of a message, in bytes
	read    int64 // bytes handed to the decoder
	start   int64 // offset of the message, or of white space before it
	solid   int64 // offset behind the last byte that is not white space
	lines   int   // newlines among them
}

// next reads one message. Its error names the line.
func (r *messageReader) next() (message json.RawMessage, err error) {
	err = r.decoder.Decode(&message)
	var (
		syntax *json.SyntaxError
		long   *longInputError
	)
	switch {
	case err == nil:
		return message, nil
	case errors.As(err, &syntax):
		return nil, fmt.Errorf("line %d is not JSON: %w", r.line(syntax.Offset-1), err)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return nil, fmt.Errorf("line %d is not JSON: %w", r.line(r.solid), err)
	case errors.As(err, &long):
		pending := r.pending()
		blank := len(pending) - len(bytes.TrimLeft(pending, blanks))
		return nil, fmt.Errorf("line %d: %w", r.line(r.decoder.InputOffset()+int64(blank)), err)
	}
	return nil, err
}

// Read is called by the decoder when it needs more of a message. A byte order mark at
// the beginning becomes white space.
func (r *messageReader) Read(b []byte) (int, error) {
	ended := r.decoder.InputOffset() // the last message
	r.start = max(r.start, ended)
	if r.solid <= ended {
		r.start = r.read // however much white space there was
	}
	if most := jsonFactor*int64(r.limit) + jsonSlack; r.read-r.start > most {
		return 0, &longInputError{most: most, limit: r.limit}
	}
	n, err := r.from.Read(b)
	for r.start == r.read && n > 0 && err == nil && len(bytes.TrimLeft(b[:n], blanks)) == 0 { // which the decoder would keep
		r.lines += bytes.Count(b[:n], []byte("\n"))
		n, err = r.from.Read(b)
	}
	if mark := []byte(byteOrderMark); r.read == 0 && n > 0 && b[0] == mark[0] {
		for n < len(mark) && err == nil {
			var more int
			more, err = r.from.Read(b[n:len(mark)])
			n += more
		}
		if bytes.HasPrefix(b[:n], mark) {
			copy(b, "   ")
		}
	}
	r.lines += bytes.Count(b[:n], []byte("\n"))
	if solid := len(bytes.TrimRight(b[:n], blanks)); solid > 0 {
		r.solid = r.read + int64(solid)
	}
	r.read += int64(n)
	return n, err
}

// line is the line of an offset behind the last message, counted from 1.
func (r *messageReader) line(offset int64) int {
	pending := r.pending()
	from := min(max(offset-r.decoder.InputOffset(), 0), int64(len(pending)))
	return 1 + r.lines - bytes.Count(pending[from:], []byte("\n"))
}

// pending is what the decoder was given behind the last message.
func (r *messageReader) pending() []byte {
	pending, _ := io.ReadAll(r.decoder.Buffered()) // from memory
	return pending
}

// longInputError says that a message takes so much JSON that it cannot be sent.
type longInputError struct {
	most  int64
	limit int
}

func (e *longInputError) Error() string {
	return fmt.Sprintf("it takes more than %d bytes, --max-message is %d", e.most, e.limit)
}

// Hints names the flag.
func (e *longInputError) Hints() []string { return []string{"--max-message allows larger messages"} }
