package ui

import (
	"io"
	"os"

	"golang.org/x/term"
)

// target is where text is printed: what it does to a text's characters and colours.
// The zero target is JSON.
type target struct {
	escaping
	colored bool
	// terminal is what it writes to if that is a terminal, else nil.
	terminal io.Writer
}

func newTarget(w io.Writer, terminal, colored bool) target {
	if terminal {
		return target{visible, colored, w}
	}
	return target{guarded, colored, nil}
}

// out is standard output, err standard error.
func (s *Streams) out() target { return newTarget(s.Out, s.OutTTY, s.outColor) }
func (s *Streams) err() target { return newTarget(s.Err, s.ErrTTY, s.errColor) }

// fallbackColumns is the width of a terminal that does not report one.
const fallbackColumns = 80

// columns is how many cells a line of the terminal has now; 0 if it is none.
func (t target) columns() int {
	switch w := t.terminal.(type) {
	case nil:
		return 0
	case interface{ columns() int }: // a test's
		return w.columns()
	case *os.File:
		if n, _, err := term.GetSize(int(w.Fd())); err == nil && n > 0 {
			return n
		}
	}
	return fallbackColumns
}
