package hook

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"

	"github.com/pyplug/pyplug/runner/schema"
)

// ByteOrderMark may be at the beginning of a file.
const ByteOrderMark = "\ufeff"

// Messages reads the [Call.Input] of a call: JSON values one after the other, on one line
// each or not. name is the file that its errors name. If ctx ends, it abandons a read that
// blocks. JSON of more than most bytes is rejected with tooLong.
func Messages(ctx context.Context, from io.Reader, name string, most int, tooLong error) iter.Seq2[json.RawMessage, error] {
	return func(yield func(json.RawMessage, error) bool) {
		text := bufio.NewReader(from)
		lines := &lineCounter{from: io.LimitedReader{R: text}}
		decoder := json.NewDecoder(lines)
		for first := true; ; first = false {
			message, err := Interruptible(ctx, func() (message json.RawMessage, err error) {
				if mark, _ := text.Peek(1); first && string(mark) == ByteOrderMark[:1] {
					_, _ = text.Discard(len(ByteOrderMark)) // else it is not JSON
				}
				lines.from.N = int64(most)
				err = decoder.Decode(&message)
				lines.forget(decoder.InputOffset())
				return message, err
			})
			ended, syntax := (*Error)(nil), (*json.SyntaxError)(nil)
			switch {
			case err == nil:
			case errors.As(err, &ended) && ended.Kind == Canceled:
				err = Ended(ctx, "", "no end of "+name, false)
			case lines.from.N == 0:
				err = fmt.Errorf("%s: line %d: %w", name, lines.line(lines.read), tooLong)
			case errors.Is(err, io.EOF):
				return
			case errors.As(err, &syntax):
				err = fmt.Errorf("%s: line %d is not JSON: %w", name, lines.line(syntax.Offset), err)
			case errors.Is(err, io.ErrUnexpectedEOF):
				err = fmt.Errorf("%s: line %d is not JSON: %w", name, lines.line(lines.read), err)
			default:
				err = fmt.Errorf("%s: %w", name, err)
			}
			if !yield(message, err) || err != nil {
				return
			}
		}
	}
}

// lineCounter is a reader that knows where lines end.
type lineCounter struct {
	from io.LimitedReader
	read int64   // how many bytes
	ends []int64 // the offsets of newlines, from the oldest that is not forgotten
	lost int     // how many are forgotten
}

func (l *lineCounter) Read(b []byte) (int, error) {
	n, err := l.from.Read(b)
	for i, c := range b[:n] {
		if c == '\n' {
			l.ends = append(l.ends, l.read+int64(i))
		}
	}
	l.read += int64(n)
	return n, err
}

// forget drops the newlines before an offset.
func (l *lineCounter) forget(offset int64) {
	n, _ := slices.BinarySearch(l.ends, offset)
	l.ends, l.lost = l.ends[n:], l.lost+n
}

// line returns the line of the byte before an offset, from 1.
func (l *lineCounter) line(offset int64) int {
	n, _ := slices.BinarySearch(l.ends, offset-1)
	return 1 + l.lost + n
}

// MessageHints are for a message that is too large.
var MessageHints = schema.Hints("raise %s to allow larger messages", schema.Setting("max-message"))

// MessageLimit returns how many bytes of JSON a message of at most limit bytes may take, and the
// error of one that takes more, so that it cannot be sent.
func MessageLimit(limit int) (most int, tooLong error) {
	const escape = len(`\u0001`) // of each byte of a text
	most = escape*limit + 64<<10 // for names and white space
	return most, &Error{Kind: Request, Hints: MessageHints, Err: fmt.Errorf("it has more than %d bytes; --max-message is %d", most, limit)}
}
