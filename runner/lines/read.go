package lines

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

const (
	readSize = 64 << 10
	// byteOrderMark may stand before the first line, where some editors put it.
	byteOrderMark = "\ufeff"
)

// lineReader splits an input into lines.
type lineReader struct {
	from  *bufio.Reader
	most  int // bytes of a line
	begun bool
}

func newLineReader(from io.Reader, most int) *lineReader {
	return &lineReader{from: bufio.NewReaderSize(from, readSize), most: most}
}

// next reads one line, without what ends it, which the last one need not have.
// The line belongs to the caller. One that is too long is read to its end and is
// a [*LineError]. A line that an error other than io.EOF cuts off is not told.
func (r *lineReader) next() ([]byte, error) {
	line, err := r.whole()
	if !r.begun && line != nil {
		r.begun = true
		line = bytes.TrimPrefix(line, []byte(byteOrderMark))
	}
	return bytes.TrimSuffix(line, []byte("\r")), err
}

// whole reads one line but for its newline.
func (r *lineReader) whole() ([]byte, error) {
	part, err := r.from.ReadSlice('\n')
	if err == nil {
		return r.bounded(bytes.Clone(part[:len(part)-1]))
	}
	line := bytes.Clone(part)
	for errors.Is(err, bufio.ErrBufferFull) {
		if len(line) > r.most+1 { // and a carriage return
			return nil, r.skip()
		}
		part, err = r.from.ReadSlice('\n')
		line = append(line, part...)
	}
	switch {
	case err == nil:
		return r.bounded(line[:len(line)-1])
	case errors.Is(err, io.EOF) && len(line) > 0:
		return r.bounded(line)
	default:
		return nil, err
	}
}

// bounded refuses a line that is too long, though it was read.
func (r *lineReader) bounded(line []byte) ([]byte, error) {
	if len(line) > r.most && len(bytes.TrimSuffix(line, []byte("\r"))) > r.most {
		return nil, tooLong(r.most)
	}
	return line, nil
}

// skip reads the rest of a line that is too long.
func (r *lineReader) skip() error {
	r.begun = true
	for {
		switch _, err := r.from.ReadSlice('\n'); {
		case errors.Is(err, bufio.ErrBufferFull):
		case err == nil, errors.Is(err, io.EOF):
			return tooLong(r.most)
		default:
			return err
		}
	}
}
