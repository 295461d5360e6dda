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
	brisk   = 100 * time.Millisecond // the same for what is shown from the start
)

// waits are the calls of Waiting and Progress that go on, and when the last
// value was printed on the terminal that shows them.
type waits struct {
	mu   sync.Mutex
	open []*wait // in the order in which they began
	last time.Time
}

// wait is one of them.
type wait struct {
	text    func() string
	elapsed func(time.Duration) string
	// delay is how long nothing is shown, at first and after a value; every is
	// how often it is drawn from then on.
	delay, every time.Duration
	began        time.Time
	again        chan struct{} // asks for it to be drawn at once
}

// Waiting shows on a terminal's standard error what is waited for, once it has
// taken a second, with a count of the seconds. Lines printed meanwhile appear
// above it, and so do values printed on the same terminal: it need not be
// stopped for them, and comes back after a second without one. The returned stop
// erases it and may be called more than once. Of several that go on at a time
// the one that began last is shown; they may end in any order.
func (s *Streams) Waiting(what string) (stop func()) {
	return s.await(&wait{
		text:    func() string { return what },
		elapsed: func(d time.Duration) string { return fmt.Sprintf("%d s", d/time.Second) },
		delay:   quickly, every: tick,
	})
}

// Progress is Waiting for what goes on in steps: it is shown at once, drawn ten
// times a second with what text returns then, and back as soon as a line is
// printed. The function text is called by another goroutine, but not after stop
// has returned; it must not block.
func (s *Streams) Progress(text func() string) (stop func()) {
	return s.await(&wait{text: text, elapsed: tenths, every: brisk})
}

// tenths writes a time that is counted up, so that its width changes seldom.
func tenths(d time.Duration) string {
	if d < time.Minute {
		return fmt.Sprintf("%.1f s", d.Truncate(brisk).Seconds())
	}
	return span(d)
}

// await shows a wait until stop, where there is a terminal to show it.
func (s *Streams) await(w *wait) (stop func()) {
	if !s.ErrTTY || s.Quiet || s.LogJSON || s.getenv("TERM") == "dumb" {
		return func() {}
	}
	w.began, w.again = time.Now(), make(chan struct{}, 1)
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
	timer := time.NewTimer(w.delay)
	defer timer.Stop()
	select {
	case <-done:
		return
	case <-timer.C:
	}
	ticker := time.NewTicker(w.every)
	defer ticker.Stop()
	for i := 0; ; {
		if s.waits.due(w, time.Now()) {
			s.drawWait(w, i)
		}
		select {
		case <-done:
			s.screen.status(s.Err, "")
			s.screen.flush(patience)
			return
		case <-w.again: // the same picture
		case <-ticker.C:
			i++
		}
	}
}

// drawWait shows one picture of a wait. On the terminal that values go to it is
// left out while one is being written: it would stand in its midst.
func (s *Streams) drawWait(w *wait, i int) {
	const frames = `|/-\`
	frame := frames[i%4 : i%4+1]
	text := strings.ReplaceAll(s.escapeLine(w.text()), "\t", " ")
	tail := " (" + w.elapsed(time.Since(w.began)) + ")"
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
	s.screen.status(s.Err, s.PaintErr(Cyan, frame)+" "+fit(text+tail, tail, room))
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

// redraw has the one that is shown drawn now rather than at its next picture:
// after a value that erased it the line would be seen to blink.
func (l *waits) redraw() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, w := range l.open {
		select {
		case w.again <- struct{}{}:
		default: // asked for already
		}
	}
}

// due tells whether w is the one to show: of those whose delay has passed, since
// they began and since a value was printed, the one that began last.
func (l *waits) due(w *wait, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, other := range slices.Backward(l.open) {
		if now.Sub(other.began) >= other.delay && now.Sub(l.last) >= other.delay {
			return other == w
		}
	}
	return false
}
