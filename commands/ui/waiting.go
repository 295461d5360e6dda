package ui

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	quickly = time.Second // what takes no longer is not worth a word
	tick    = 125 * time.Millisecond
)

// waits are the calls of Waiting that go on, and when the last value was printed
// on the terminal that shows them.
type waits struct {
	mu   sync.Mutex
	open []*wait // in the order in which they began
	last time.Time
}

// wait is one of them.
type wait struct {
	what  string
	began time.Time
}

// Waiting shows on a terminal's standard error what is waited for, once it has
// taken a second, with a count of the seconds. Lines printed meanwhile appear
// above it, and so do values printed on the same terminal: it need not be
// stopped for them, and comes back after a second without one. The returned stop
// erases it and may be called more than once. Of several that go on at a time
// the one that began last is shown; they may end in any order.
func (s *Streams) Waiting(what string) (stop func()) {
	if !s.ErrTTY || s.Quiet || s.LogJSON || s.getenv("TERM") == "dumb" {
		return func() {}
	}
	w := &wait{what: strings.ReplaceAll(s.escapeLine(what), "\t", " "), began: time.Now()}
	s.waits.add(w)
	done, ended := make(chan struct{}), make(chan struct{})
	go func() { // ends with stop
		defer close(ended)
		s.spin(w, done)
	}()
	return sync.OnceFunc(func() {
		s.waits.remove(w)
		close(done)
		<-ended
	})
}

func (s *Streams) spin(w *wait, done <-chan struct{}) {
	timer := time.NewTimer(quickly)
	defer timer.Stop()
	select {
	case <-done:
		return
	case <-timer.C:
	}
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	for i := 0; ; i++ {
		if s.waits.due(w, time.Now()) {
			s.drawWait(w, i)
		}
		select {
		case <-done:
			s.screen.status(s.Err, "")
			s.screen.flush(patience)
			return
		case <-ticker.C:
		}
	}
}

// drawWait shows one picture of a wait. On the terminal that values go to it is
// left out while one is being written: it would stand in its midst.
func (s *Streams) drawWait(w *wait, i int) {
	const frames = `|/-\`
	frame := frames[i%4 : i%4+1]
	tail := fmt.Sprintf(" (%d s)", time.Since(w.began)/time.Second)
	// A line that wraps cannot be erased, and some terminals wrap at the last column.
	room := columns(s.Err) - len(frame) - len(" ") - 1
	if room < 1 {
		return
	}
	if s.OutTTY {
		if !s.outMu.TryLock() {
			return
		}
		defer s.outMu.Unlock()
		defer s.screen.flush(patience)
	}
	s.screen.status(s.Err, s.PaintErr(Cyan, frame)+" "+fit(w.what+tail, tail, room))
}

func (l *waits) add(w *wait) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open = append(l.open, w)
}

func (l *waits) remove(w *wait) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open = slices.DeleteFunc(l.open, func(other *wait) bool { return other == w })
}

// printed tells that a value is printed.
func (l *waits) printed(now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last = now
}

// due tells whether w is the one to show, and there was a second of silence.
func (l *waits) due(w *wait, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := len(l.open)
	return n > 0 && l.open[n-1] == w && now.Sub(l.last) >= quickly
}
