package ui

import (
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/mattn/go-runewidth"

	"github.com/pyplug/pyplug/runner/schema"
)

const (
	// quick is how long something may take without being shown.
	quick = time.Second
	// tick is how often the line of a wait is drawn.
	tick = 100 * time.Millisecond
)

// waits are the waits that are shown. The line of the last one stands below all other
// lines of a terminal.
type waits struct {
	mu   sync.Mutex
	open []*wait
}

// wait is something that has been going on since a time.
type wait struct {
	text  func() string
	began time.Time
}

// Waiting shows on a terminal's standard error what is waited for, once it has taken
// a second. Lines printed meanwhile appear above it, and so do values printed on the
// same terminal. The returned stop erases it and may be called more than once. Of
// several waits the last one is shown; they may end in any order.
func (s *Streams) Waiting(what string) (stop func()) {
	return s.wait(quick, func() string { return what })
}

// Progress is Waiting for work that has steps: it is shown at once, with what text
// returns. Another goroutine calls text, but not after stop has returned. It must not
// block.
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
	text := fmt.Sprintf("%d answered", c.Answered)
	if c.Running == 0 {
		text = "waiting for standard input: " + text
	}
	if c.Failed > 0 {
		text += fmt.Sprintf(", %d failed", c.Failed)
	}
	if rate := float64(c.Answered) / after.Seconds(); rate >= 1 {
		text += fmt.Sprintf(", %.0f per second", rate)
	}
	if c.Restarts > 0 {
		text += ", " + schema.Plural(c.Restarts, "restart")
	}
	return text
}

// wait shows a wait after delay and until stop, if there is a terminal to show it.
func (s *Streams) wait(delay time.Duration, text func() string) (stop func()) {
	if !s.ErrTTY || s.Quiet || s.LogJSON || s.Getenv("TERM") == "dumb" {
		return func() {}
	}
	w := &wait{text, time.Now()}
	done, ended := make(chan struct{}), make(chan struct{})
	go func() { // ends with stop
		defer close(ended)
		select {
		case <-done:
			return
		case <-time.After(delay):
		}
		s.waits.change(func(open []*wait) []*wait { return append(open, w) })
		ticker := time.NewTicker(tick)
		defer ticker.Stop()
		for {
			s.drawWait(w)
			select {
			case <-done:
				s.waits.change(func(open []*wait) []*wait {
					return slices.DeleteFunc(open, func(other *wait) bool { return other == w })
				})
				s.screen.status(s.Err, "")
				return
			case <-ticker.C:
			}
		}
	}()
	return sync.OnceFunc(func() {
		close(done)
		<-ended
		s.screen.flush(writeTimeout)
	})
}

func (l *waits) change(do func([]*wait) []*wait) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open = do(l.open)
}

// drawWait draws the line of w if that is the last wait. If a value is being written to
// the same terminal it draws nothing.
func (s *Streams) drawWait(w *wait) {
	s.waits.mu.Lock()
	defer s.waits.mu.Unlock()
	if s.waits.open[len(s.waits.open)-1] != w {
		return
	}
	if s.OutTTY {
		if !s.outMu.TryLock() {
			return
		}
		defer s.outMu.Unlock()
		defer s.screen.flush(writeTimeout)
	}
	elapsed := time.Since(w.began)
	spinner := string(`|/-\`[elapsed/tick%4])
	tail := fmt.Sprintf(" (%.0f s)", elapsed.Truncate(time.Second).Seconds())
	// A line that wraps cannot be erased, and some terminals wrap at the last column.
	room := columns(s.Err) - len("| ") - len(tail) - 1
	if room > 0 {
		s.screen.status(s.Err, Paint(Cyan, spinner)+" "+runewidth.Truncate(visible(oneLine(w.text())), room, "…")+tail)
	}
}
