package ui

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/mattn/go-runewidth"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/lines"
	"github.com/pyplug/pyplug/runner/lines/output"
	"github.com/pyplug/pyplug/runner/schema"
)

const (
	// writeTimeout is how long a reader of standard error may read nothing before
	// more output is dropped.
	writeTimeout = time.Second
	// drainTimeout limits any wait for a slow reader.
	drainTimeout = 10 * time.Second
	// roomSize is the size of the buffer above which a plugin's output waits. pyplug's
	// own few lines never wait.
	roomSize = 1 << 20
	// chunkSize is the maximum size of one Write: small enough to detect the progress of a slow
	// reader, large enough for a gigabyte in seconds.
	chunkSize = 8 << 10
)

const eraseLine = "\r\x1b[K"

// screen is standard error: whole lines, and a status line below them. The function shown makes
// everything harmless except pyplug's commands for CI systems. The zero value is ready to use. It
// is safe for concurrent use.
type screen struct {
	color bool // set before the first use

	mu    sync.Mutex     // protects what follows
	out   *output.Writer // nil before the first line
	shown bool           // whether a status line is, or will be, the last thing written
}

// add queues whole lines.
func (s *screen) add(w io.Writer, lines string) { s.addCommands(w, shown(s.color, lines)) }

// addCommands queues whole lines without escaping: harmless commands for a CI system.
func (s *screen) addCommands(w io.Writer, lines string) {
	out := s.to(w)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue(out, lines)
}

// addWaiting queues whole lines when there is room. If the reader reads nothing for writeTimeout,
// it drops the lines and returns false. Until the reader reads again, it drops lines without
// waiting.
func (s *screen) addWaiting(w io.Writer, lines string) bool {
	if !s.to(w).Room(context.Background(), roomSize, writeTimeout) {
		return false
	}
	s.add(w, lines)
	return true
}

// to returns the writer for w.
func (s *screen) to(w io.Writer) *output.Writer {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.out == nil {
		s.out = output.New(untilClosed{w}, chunkSize, nil)
	}
	return s.out
}

// untilClosed fails only when the reader has gone away. Other errors, such as a full disk, may be
// temporary.
type untilClosed struct{ io.Writer }

func (u untilClosed) Write(text []byte) (int, error) {
	if n, err := u.Writer.Write(text); IsClosedPipe(err) {
		return n, err
	}
	return len(text), nil
}

// queue appends lines in place of the status line. The caller holds mu.
func (s *screen) queue(out *output.Writer, text string) {
	if s.shown {
		text, s.shown = eraseLine+text, false
	}
	out.Append(func(dst []byte) []byte { return append(dst, text...) })
}

// flush waits until all earlier lines are written, or until the reader reads nothing for limit. It
// waits at most drainTimeout for a slow reader. It does not wait for a reader that is known to have
// read nothing for that long.
func (s *screen) flush(w io.Writer, limit time.Duration) { s.to(w).Flush(limit, drainTimeout) }

// setStatusLine shows text below all lines, instead of the previous status line. An empty text
// erases the line. It shows nothing while lines wait to be written.
func (s *screen) setStatusLine(w io.Writer, text string) {
	text, out := shown(s.color, text), s.to(w)
	s.mu.Lock()
	defer s.mu.Unlock()
	if text != "" && out.Pending() > 0 {
		return
	}
	s.queue(out, text)
	s.shown = text != ""
}

const (
	// quick is how long a wait may take before it is shown.
	quick = time.Second
	// tick is the interval at which the line of a wait is drawn.
	tick = 100 * time.Millisecond
)

// Waiting shows on a terminal's standard error what the program waits for, after a second. Lines
// and values printed meanwhile appear above it. The returned stop erases it and may be called more
// than once. If several waits are in progress, only the first is shown.
func (s *Streams) Waiting(what string) (stop func()) {
	return s.Steps(func() string { return what })
}

// Steps is like Waiting, for work that has steps. It shows the result of text. Another goroutine
// calls text, but not after stop has returned. text must not block.
func (s *Streams) Steps(text func() string) (stop func()) { return s.wait(quick, text) }

// Progress is like Steps, but shows the work at once.
func (s *Streams) Progress(text func() string) (stop func()) { return s.wait(0, text) }

// showsWaits reports whether a terminal can show waits.
func (s *Streams) showsWaits() bool {
	return s.ErrTTY && !s.Quiet && !s.LogJSON && s.Getenv("TERM") != "dumb"
}

// wait shows a wait after delay and until stop, if there is a terminal.
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
		s.screen.flush(s.Err, writeTimeout)
	})
}

// repeat calls do after delay, and then after every interval, until stop.
func repeat(delay, interval time.Duration, do func()) (stop func()) {
	done, ended := make(chan struct{}), make(chan struct{})
	go func() { // ends with stop
		defer close(ended)
		for ; !hook.Within(done, delay); delay = interval {
			do()
		}
	}()
	return func() { close(done); <-ended }
}

// drawWait draws the line of a wait. It draws nothing while a value is being written to the same
// terminal.
func (s *Streams) drawWait(elapsed time.Duration, text string) {
	if s.OutTTY {
		if !s.outMu.TryLock() {
			return
		}
		defer s.outMu.Unlock()
		defer s.screen.flush(s.Err, writeTimeout)
	}
	spinner := string(`|/-\`[elapsed/tick%4])
	tail := fmt.Sprintf(" (%.0f s)", elapsed.Truncate(time.Second).Seconds())
	// A line that wraps cannot be erased, and some terminals wrap at the last column.
	room := columns(s.Err) - len("| ") - len(tail) - 1
	if room > 0 {
		s.screen.setStatusLine(s.Err, Paint(Cyan, spinner)+" "+runewidth.Truncate(visible(oneLine(text)), room, "…")+tail)
	}
}

// logEvery is the interval at which a log reports progress.
const logEvery = 10 * time.Second

// LinesCounts are the counts of `run --lines` so far.
type LinesCounts struct {
	lines.Counts
	Restarts int // number of restarts of the plugin
}

// LinesProgress shows the progress of `run --lines` on a terminal, after a second. If standard
// input is a file, and standard error is not a terminal, it logs the progress every ten seconds. If
// lines are typed at a terminal, it shows nothing.
func (s *Streams) LinesProgress(counts func() LinesCounts) (stop func()) {
	in, isFile := s.In.(*os.File)
	if isFile && isTerminal(in) {
		return func() {}
	}
	began, size := time.Now(), int64(0)
	if info, err := in.Stat(); err == nil && info.Mode().IsRegular() {
		size = info.Size()
	}
	text := func() string { return counts().text(time.Since(began), size) }
	if s.showsWaits() || size == 0 || s.Quiet {
		return s.wait(quick, text)
	}
	return repeat(logEvery, logEvery, func() {
		c, took := counts(), time.Since(began)
		s.say(Cyan, "note", c.text(took, size), c.pairs(took, size)...)
	})
}

// text returns one line about the counts after a time. size is the size of the input, or 0 if
// unknown.
func (c LinesCounts) text(after time.Duration, size int64) string {
	var parts []string
	add := func(show bool, format string, args ...any) {
		if show {
			parts = append(parts, fmt.Sprintf(format, args...))
		}
	}
	rate, left := c.Rate(after, size)
	add(true, "%d answered", c.Answered)
	add(c.Kept > 0, "%d from the record", c.Kept)
	add(c.Failed > 0, "%d failed", c.Failed)
	add(rate >= 1, "%.0f per second", rate)
	add(left > 0, "%s left", schema.Span(left.Round(time.Second)))
	add(c.Restarts > 0, "%s", schema.Plural(c.Restarts, "restart"))
	text := strings.Join(parts, ", ")
	switch {
	case size > 0:
		return fmt.Sprintf("%d %%: %s", c.Percent(size), text)
	case c.Running == 0:
		return "waiting for standard input: " + text
	}
	return text
}

// pairs returns the counts for a log.
func (c LinesCounts) pairs(after time.Duration, size int64) []any {
	rate, left := c.Rate(after, size)
	return []any{"percent", c.Percent(size), "answered", c.Answered, "from_record", c.Kept, "failed", c.Failed,
		"per_second", int64(rate), "left", left.Round(time.Second), "restarts", c.Restarts}
}
