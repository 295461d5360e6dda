package ui

import (
	"os"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	// quick is how long something may take without being shown.
	quick = time.Second
	// tick is how often the line of a wait is drawn.
	tick = 100 * time.Millisecond
)

// waits are the calls of Waiting, Progress and LinesProgress in progress. The line
// of one of them is drawn below all other lines of a terminal.
type waits struct {
	mu      sync.Mutex
	open    []*wait   // in the order in which they began
	printed time.Time // when the last value was printed on the same terminal
}

// wait is one of them. It is not shown for delay, at first and after a value.
type wait struct {
	text  func() string
	delay time.Duration
	began time.Time
}

// Waiting shows on a terminal's standard error what is waited for, once it has taken
// a second. Lines printed meanwhile appear above it, and so do values printed on the
// same terminal: after a value it comes back after a second. The returned stop erases
// it and may be called more than once. Of several waits the last one is shown; they
// may end in any order.
func (s *Streams) Waiting(what string) (stop func()) {
	return s.wait(quick, func() string { return what })
}

// Progress is Waiting for work that has steps: it is shown at once, with what text
// returns, and comes back as soon as a value is printed. Another goroutine calls
// text, but not after stop has returned. It must not block.
func (s *Streams) Progress(text func() string) (stop func()) { return s.wait(0, text) }

// LinesCounts say how far `run --lines` is.
type LinesCounts struct {
	Answered, Failed, Running int64
	Restarts                  int
}

// LinesProgress is Waiting for `run --lines`. If lines are typed at a terminal it
// shows nothing.
func (s *Streams) LinesProgress(counts func() LinesCounts) (stop func()) {
	if in, ok := s.In.(*os.File); ok && isTerminal(in) {
		return func() {}
	}
	began := time.Now()
	return s.wait(quick, func() string { return counts().text(time.Since(began)) })
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
	if c.Restarts > 0 {
		text += ", " + plural(c.Restarts, "restart")
	}
	return text
}

// wait shows a wait until stop, if there is a terminal to show it.
func (s *Streams) wait(delay time.Duration, text func() string) (stop func()) {
	if !s.ErrTTY || s.Quiet || s.LogJSON || s.Getenv("TERM") == "dumb" {
		return func() {}
	}
	w := &wait{text: text, delay: delay, began: time.Now()}
	s.waits.mu.Lock()
	s.waits.open = append(s.waits.open, w)
	s.waits.mu.Unlock()
	done := make(chan struct{})
	go func() { // ends with stop
		ticker := time.NewTicker(tick)
		defer ticker.Stop()
		for {
			s.drawWait(w)
			select {
			case <-done:
				return
			case <-ticker.C:
			}
		}
	}()
	return sync.OnceFunc(func() {
		close(done)
		s.waits.mu.Lock()
		s.waits.open = slices.DeleteFunc(s.waits.open, func(other *wait) bool { return other == w })
		s.waits.mu.Unlock()
		s.screen.status(s.Err, "")
		s.screen.flush(writeTimeout)
	})
}

// due returns the wait to show, the last one whose delay has passed; nil for none.
// Held: mu.
func (l *waits) due() *wait {
	for _, w := range slices.Backward(l.open) {
		if time.Since(w.began) >= w.delay && time.Since(l.printed) >= w.delay {
			return w
		}
	}
	return nil
}

// valuePrinted keeps waits away for their delay.
func (l *waits) valuePrinted() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.printed = time.Now()
}

// drawWait draws the line of the wait to show, if that is w; nil stands for any. If
// a value is being written to the same terminal it draws nothing.
func (s *Streams) drawWait(w *wait) {
	s.waits.mu.Lock()
	defer s.waits.mu.Unlock()
	due := s.waits.due()
	if due == nil || w != nil && w != due {
		return
	}
	if s.OutTTY {
		if !s.outMu.TryLock() {
			return
		}
		defer s.outMu.Unlock()
		defer s.screen.flush(writeTimeout)
	}
	const frames = `|/-\`
	elapsed := time.Since(due.began)
	frame := frames[elapsed/tick%4 : elapsed/tick%4+1]
	screen := s.err()
	text := strings.ReplaceAll(screen.line(due.text()), "\t", " ")
	// A line that wraps cannot be erased, and some terminals wrap at the last column.
	if room := screen.columns() - len("| ") - 1; room > 0 {
		s.screen.status(s.Err, screen.paint(Cyan, frame)+" "+fit(text, " ("+growing(elapsed)+")", room))
	}
}
