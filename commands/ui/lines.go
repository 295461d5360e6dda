package ui

import (
	"fmt"
	"io"
	"os"
	"time"
)

// Lines is standard output for answers that go on while other things are shown. A
// Write gets whole lines of JSON. The error is that of the write, see
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

// LinesCounts say how far `run --lines` is.
type LinesCounts struct {
	Answered, Failed, Running int64
	Restarts                  int
}

// LinesProgress shows on a terminal's standard error how far it is, from the first
// second on. Where standard output is the same terminal it stays away for a second
// after each answer, and where lines are typed at one altogether. The returned
// stop erases it; counts is not called after that.
func (s *Streams) LinesProgress(counts func() LinesCounts) (stop func()) {
	if in, ok := s.In.(*os.File); ok && isTerminal(in) {
		return func() {}
	}
	began := time.Now()
	return s.await(&wait{
		text:    func() string { return counts().text(time.Since(began)) },
		elapsed: tenths,
		delay:   quickly, every: brisk,
	})
}

// text is one line about the counts after a time.
func (c LinesCounts) text(after time.Duration) string {
	text := grouped(c.Answered) + " answered"
	if c.Running == 0 {
		text = "waiting for standard input: " + text
	}
	if c.Failed > 0 {
		text += ", " + grouped(c.Failed) + " failed"
	}
	if rate := float64(c.Answered) / after.Seconds(); rate >= 1 {
		text += ", " + grouped(int64(rate)) + " per second"
	}
	switch {
	case c.Restarts == 1:
		text += ", 1 restart"
	case c.Restarts > 1:
		text += fmt.Sprintf(", %d restarts", c.Restarts)
	}
	return text
}
