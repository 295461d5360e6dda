package ui

import (
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/pyplug/pyplug/runner/lines"
	"github.com/pyplug/pyplug/runner/schema"
)

// logEvery is how often a log reports progress.
const logEvery = 10 * time.Second

// LinesCounts say how far `run --lines` is.
type LinesCounts struct {
	lines.Counts
	Restarts int // of the plugin
}

// LinesProgress shows on a terminal, after a second, how far `run --lines` is. If standard input is a file,
// and standard error no terminal, it logs that every ten seconds. If lines are typed at a
// terminal it shows nothing.
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

// rate returns how many lines a second are called, and how long the rest of so many bytes takes, 0 if
// unknown.
func (c LinesCounts) rate(after time.Duration, size int64) (rate float64, left time.Duration) {
	if called := c.Read - c.KeptRead; called > 0 && size > c.Read {
		left = time.Duration(float64(after) * float64(size-c.Read) / float64(called))
	}
	return float64(c.Answered-c.Kept) / after.Seconds(), left
}

// text is one line about the counts after a time. size is that of the input, 0 if unknown.
func (c LinesCounts) text(after time.Duration, size int64) string {
	var parts []string
	add := func(show bool, format string, args ...any) {
		if show {
			parts = append(parts, fmt.Sprintf(format, args...))
		}
	}
	rate, left := c.rate(after, size)
	add(true, "%d answered", c.Answered)
	add(c.Kept > 0, "%d from the record", c.Kept)
	add(c.Failed > 0, "%d failed", c.Failed)
	add(rate >= 1, "%.0f per second", rate)
	add(left > 0, "%s left", schema.Span(left.Round(time.Second)))
	add(c.Restarts > 0, "%s", schema.Plural(c.Restarts, "restart"))
	text := strings.Join(parts, ", ")
	switch {
	case size > 0:
		return fmt.Sprintf("%d %%: %s", c.percent(size), text)
	case c.Running == 0:
		return "waiting for standard input: " + text
	}
	return text
}

// percent returns how much of the input is answered. The file may have grown.
func (c LinesCounts) percent(size int64) int64 { return min(100, c.Read*100/size) }

// pairs are the counts for a log.
func (c LinesCounts) pairs(after time.Duration, size int64) []any {
	rate, left := c.rate(after, size)
	return []any{"percent", c.percent(size), "answered", c.Answered, "from_record", c.Kept, "failed", c.Failed,
		"per_second", int64(rate), "left", left.Round(time.Second), "restarts", c.Restarts}
}
