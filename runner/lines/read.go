package lines

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"slices"
)

const (
	readSize = 64 << 10
	// byteOrderMark may stand before the first line, where some editors put it.
	byteOrderMark = "\ufeff"
)

// lineReader splits an input into lines.
type lineReader struct {
	from  *bufio.Reader
	limit int // bytes of a line
	begun bool
	last  int // size of the last line: the next one is often as long
}

func newLineReader(from io.Reader, limit int) *lineReader {
	return &lineReader{from: bufio.NewReaderSize(from, readSize), limit: limit}
}

// next returns one line without its end, which the last line need not have. The
// line belongs to the caller. A line over the limit is read to its end and is a
// [*hook.Error]. A line that is cut off by an error other than io.EOF is dropped.
func (r *lineReader) next() ([]byte, error) {
	line, err := r.whole()
	if err != nil {
		return nil, err
	}
	if !r.begun {
		line = bytes.TrimPrefix(line, []byte(byteOrderMark))
	}
	r.begun = true
	line = bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
	if len(line) > r.limit {
		return nil, badLine("the line has more than %d bytes", r.limit)
	}
	return line, nil
}

// whole reads one line. Of a line over the limit it returns only enough to see that.
func (r *lineReader) whole() ([]byte, error) {
	var line []byte
	ends := len(byteOrderMark) + len("\r\n")
	for {
		part, err := r.from.ReadSlice('\n')
		if err != nil && line == nil {
			line = slices.Grow(line, min(r.last, r.limit)+len(part))
		}
		if len(line) <= r.limit+ends {
			line = append(line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case errors.Is(err, io.EOF) && len(line) > 0:
		case err != nil:
			return nil, err
		}
		r.last = len(line)
		return line, nil
	}
}
