package hook

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/pyplug/pyplug/runner/schema"
)

// ByteOrderMark may be at the beginning of a file.
const ByteOrderMark = "\ufeff"

// Messages reads the [Call.Input] of a call: a sequence of JSON values, which may span lines. Its
// errors begin with name, the name of the file. If ctx ends, it abandons a read that blocks. The
// parameter most limits the bytes of each value, and tooLong is the error for a longer one.
func Messages(ctx context.Context, from io.Reader, name string, most int, tooLong error) iter.Seq2[json.RawMessage, error] {
	return func(yield func(json.RawMessage, error) bool) {
		text := bufio.NewReader(from)
		limited := &io.LimitedReader{R: text}
		decoder := json.NewDecoder(limited)
		for number := 1; ; number++ {
			message, err := Interruptible(ctx, func() (message json.RawMessage, err error) {
				if mark, _ := text.Peek(1); number == 1 && string(mark) == ByteOrderMark[:1] {
					_, _ = text.Discard(len(ByteOrderMark)) // the mark is not valid JSON
				}
				limited.N = int64(most)
				err = decoder.Decode(&message)
				return message, err
			})
			ended, syntax := (*Error)(nil), (*json.SyntaxError)(nil)
			switch {
			case err == nil:
			case errors.As(err, &ended) && ended.Kind == Canceled:
				err = Ended(ctx, "", "no end of "+name, false)
			case limited.N == 0:
				err = fmt.Errorf("%s: message %d: %w", name, number, tooLong)
			case errors.Is(err, io.EOF):
				return
			case errors.As(err, &syntax):
				err = fmt.Errorf("%s: message %d is not JSON: byte %d: %w", name, number, syntax.Offset, err)
			case errors.Is(err, io.ErrUnexpectedEOF):
				err = fmt.Errorf("%s: message %d is not JSON: %w", name, number, err)
			default:
				err = fmt.Errorf("%s: %w", name, err)
			}
			if !yield(message, err) || err != nil {
				return
			}
		}
	}
}

// MessageHints are the hints for a message that is too large.
var MessageHints = schema.Hints("raise %s to allow larger messages", schema.Setting("max-message"))

// MessageLimit returns the largest size of the JSON of a message that has at most limit bytes on
// the wire, and the error for longer JSON.
func MessageLimit(limit int) (most int, tooLong error) {
	const escape = len(`\u0001`) // the longest form of one byte of a text
	most = escape*limit + 64<<10 // plus an allowance for names and white space
	return most, &Error{Kind: Request, Hints: MessageHints, Err: fmt.Errorf("it has more than %d bytes; --max-message is %d", most, limit)}
}
