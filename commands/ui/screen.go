package ui

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/mattn/go-runewidth"
)

const (
	// writeTimeout is how long a reader of standard error may read nothing before
	// more output is dropped.
	writeTimeout = time.Second
	// drainTimeout bounds any wait for a reader that is slow.
	drainTimeout = 10 * time.Second
	// roomSize is the size of the buffer above which a plugin's output waits. pyplug's
	// own few lines never wait.
	roomSize = 1 << 20
	// chunkSize is the maximum size of one Write: small enough to notice the progress of
	// a slow reader, large enough for a gigabyte in seconds.
	chunkSize = 8 << 10
)

const eraseLine = "\r\x1b[K"

// screen is standard error: whole lines, and a status line below them. One goroutine writes
// the lines in order, and runs while there is something to write. Everything but our commands
// for CI systems passes through shown. The zero value is ready to use. It is safe for
// concurrent use.
type screen struct {
	color bool // set before the first use

	mu      sync.Mutex // protects what follows
	buf     []byte     // lines that the writer has not started to write
	pending int        // bytes not written, including buf
	written int64      // bytes written since the start
	writing bool       // the writer runs
	shown   bool       // a status line is, or will be, the last thing written
	stuck   bool       // a wait timed out, and nothing was written since
	broken  bool       // the reader has gone away: everything is dropped
	// changed is closed when something was written; nil if nobody waits for it.
	changed chan struct{}
}

// add queues whole lines.
func (s *screen) add(w io.Writer, lines string) { s.addCommands(w, shown(s.color, lines)) }

// addCommands queues whole lines that are harmless, and are commands for a CI system.
func (s *screen) addCommands(w io.Writer, lines string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue(w, lines)
}

// addWaiting queues whole lines when there is room. If the reader reads nothing for
// writeTimeout, it drops the lines and returns false, and does so at once until the reader
// reads again.
func (s *screen) addWaiting(w io.Writer, lines string) bool {
	lines = shown(s.color, lines)
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.pending >= roomSize {
		if s.stuck || !s.wait(writeTimeout) {
			return false
		}
	}
	s.queue(w, lines)
	return true
}

// queue appends to the buffer and starts the writer. Held: mu.
func (s *screen) queue(w io.Writer, text string) {
	if s.broken {
		return
	}
	if s.shown {
		text, s.shown = eraseLine+text, false
	}
	s.buf = append(s.buf, text...)
	s.pending += len(text)
	if !s.writing && len(s.buf) > 0 {
		s.writing = true
		go s.write(w) // ends when all is written
	}
}

// write writes until nothing is left.
func (s *screen) write(w io.Writer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.buf) > 0 {
		rest := s.buf
		for s.buf = nil; len(rest) > 0 && !s.broken; {
			n := min(len(rest), chunkSize)
			s.mu.Unlock()
			_, err := w.Write(rest[:n])
			s.mu.Lock()
			rest = rest[n:]
			s.pending -= n
			s.written += int64(n)
			s.stuck = false
			if IsClosedPipe(err) { // other errors, such as a full disk, may pass
				s.broken, s.buf, s.pending = true, nil, 0
			}
			s.wake()
		}
	}
	s.writing = false
	s.wake()
}

// wait waits until something changed. It returns false if that takes longer than
// limit. Held: mu, except while it waits.
func (s *screen) wait(limit time.Duration) bool {
	if s.changed == nil {
		s.changed = make(chan struct{})
	}
	changed := s.changed
	s.mu.Unlock()
	timer := time.NewTimer(limit)
	select {
	case <-changed:
	case <-timer.C:
	}
	timer.Stop()
	s.mu.Lock()
	if s.changed == changed {
		s.stuck = true
		return false
	}
	return true
}

// wake makes every waiter look again. Held: mu.
func (s *screen) wake() {
	if s.changed != nil {
		close(s.changed)
		s.changed = nil
	}
}

// flush waits until all earlier lines are written, or until the reader reads nothing for
// limit. It waits at most drainTimeout for a slow reader. It does not wait for a reader that
// is known to read nothing, unless limit is longer than writeTimeout.
func (s *screen) flush(limit time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	began, mark := time.Now(), s.written+int64(s.pending)
	for s.writing && s.written < mark && time.Since(began) < drainTimeout {
		if s.stuck && limit <= writeTimeout || !s.wait(limit) {
			return
		}
	}
}

// setStatusLine shows text below all lines, in place of the status line before; empty text
// erases that. It shows nothing while lines wait to be written.
func (s *screen) setStatusLine(w io.Writer, text string) {
	text = shown(s.color, text)
	s.mu.Lock()
	defer s.mu.Unlock()
	if text != "" && s.pending > 0 {
		return
	}
	s.queue(w, text)
	s.shown = text != "" && !s.broken
}

const (
	// quick is how long something may take without being shown.
	quick = time.Second
	// tick is how often the line of a wait is drawn.
	tick = 100 * time.Millisecond
)

// Waiting shows on a terminal's standard error what the program waits for, after a second.
// Lines and values printed meanwhile appear above it. The returned stop erases it and may be
// called more than once. If several waits are in progress, the first is shown.
func (s *Streams) Waiting(what string) (stop func()) {
	return s.wait(quick, func() string { return what })
}

// Progress is Waiting for work that has steps: it is shown at once, with what text
// returns. Another goroutine calls text, but not after stop has returned. It must not
// block.
func (s *Streams) Progress(text func() string) (stop func()) { return s.wait(0, text) }

// showsWaits reports whether there is a terminal that can show waits.
func (s *Streams) showsWaits() bool {
	return s.ErrTTY && !s.Quiet && !s.LogJSON && s.Getenv("TERM") != "dumb"
}

// wait shows a wait after delay and until stop, if there is a terminal to show it.
func (s *Streams) wait(delay time.Duration, text func() string) (stop func()) {
	if !s.showsWaits() {
		return func() {}
	}
	began, shows := time.Now(), false
	end := repeat(delay, tick, func() {
		if shows = shows || s.waiting.TryLock(); shows {
			s.drawWait(time.Since(began), text())
		}
	})
	return sync.OnceFunc(func() {
		end()
		if shows {
			s.screen.setStatusLine(s.Err, "")
			s.waiting.Unlock()
		}
		s.screen.flush(writeTimeout)
	})
}

// repeat calls do after delay, and then after every interval, until stop.
func repeat(delay, interval time.Duration, do func()) (stop func()) {
	done, ended := make(chan struct{}), make(chan struct{})
	go func() { // ends with stop
		defer close(ended)
		for ; ; delay = interval {
			select {
			case <-done:
				return
			case <-time.After(delay):
				do()
			}
		}
	}()
	return func() { close(done); <-ended }
}

// drawWait draws the line of a wait. If a value is being written to the same terminal it
// draws nothing.
func (s *Streams) drawWait(elapsed time.Duration, text string) {
	if s.OutTTY {
		if !s.outMu.TryLock() {
			return
		}
		defer s.outMu.Unlock()
		defer s.screen.flush(writeTimeout)
	}
	spinner := string(`|/-\`[elapsed/tick%4])
	tail := fmt.Sprintf(" (%.0f s)", elapsed.Truncate(time.Second).Seconds())
	// A line that wraps cannot be erased, and some terminals wrap at the last column.
	room := columns(s.Err) - len("| ") - len(tail) - 1
	if room > 0 {
		s.screen.setStatusLine(s.Err, Paint(Cyan, spinner)+" "+runewidth.Truncate(visible(oneLine(text)), room, "…")+tail)
	}
}
