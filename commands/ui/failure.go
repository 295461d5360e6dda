package ui

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
)

// Failure is what a failed command shows.
type Failure struct {
	// Err is what went wrong; it must not be nil.
	Err *hook.Error
	// Context says where, a line each, such as "plugin: greeter.py (python
	// 3.11.7, .venv)".
	Context []string
	// Hints say what to do, one each.
	Hints []string
	// Status is the gRPC status' name, empty without one.
	Status string
	// Shown tells that what the plugin printed is on standard error already:
	// its last lines are not told again in the text.
	Shown bool
	// JSON asks for an object on standard output.
	JSON bool
}

const (
	// failPatience is how long a reader may take nothing of the error itself.
	failPatience = 2 * time.Second
	// heldPatience is the same for a terminal, which may have been stopped by
	// its user, and for standard output, whose reader works on what it gets.
	heldPatience = 30 * time.Second
)

// Fail shows a failure: as text on standard error; with f.JSON as an object on
// standard output; with LogJSON as a line of the log. It gives up on a reader of
// standard error that takes nothing for two seconds, and on a terminal or a
// reader of standard output after thirty, or two when that did not read before
// either; on all of them soon after [Streams.Hurry].
func (s *Streams) Fail(f Failure) {
	switch {
	case f.JSON:
		s.failOut(fmt.Appendf(nil, `{"schema":1,"error":%s}`+"\n", f.ErrorJSON()))
	case s.LogJSON:
		s.failErr(string(s.appendLog(nil, "error", f.subject()+": "+f.Err.Error(), []any{"error", f.ErrorJSON()})))
	default:
		s.failErr(s.failureText(f))
	}
}

func (s *Streams) failErr(text string) {
	s.screen.add(s.Err, text)
	if s.ErrTTY {
		s.screen.flush(heldPatience)
		return
	}
	s.screen.flush(failPatience)
}

// failOut writes to standard output, where a write may be under way that its
// reader does not take.
func (s *Streams) failOut(line []byte) {
	limit := heldPatience
	if s.outMu.TryLock() {
		s.outMu.Unlock()
	} else {
		limit = failPatience
	}
	done := make(chan struct{})
	go func() { // ends with the reader, or with the process
		defer close(done)
		_ = s.writeOut(string(line)) // there is nowhere to tell of an error
	}()
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
	case <-s.screen.hastened():
		// What can be written at once still is.
		select {
		case <-done:
		case <-time.After(hurried):
		}
	}
}

// subject is what the headline names: the hook, else the kind.
func (f Failure) subject() string {
	if f.Err.Hook != "" {
		return f.Err.Hook
	}
	return f.Err.Kind.String()
}

// failureText is the whole text, for standard error.
func (s *Streams) failureText(f Failure) string {
	e := f.Err
	headline := f.subject() + ": " + e.Error()
	p := page{relative: s.relative}
	if e.Python != nil {
		if !strings.Contains(headline, e.Python.Headline()) {
			p.add(0, e.Python.Headline())
		}
		p.raised(0, e.Python)
	}
	for _, frame := range shorten(e.At) {
		p.frame(0, "was at ", frame)
	}
	if e.Exit != nil {
		p.exit(*e.Exit, f.Shown)
	}
	for _, tried := range e.Tried {
		p.add(0, "tried: "+tried)
	}
	for _, context := range f.Context {
		p.add(0, context)
	}

	var b strings.Builder
	b.WriteString(s.PaintErr(Red, "error:") + " " + s.escapeText(headline, "  ") + "\n")
	for _, line := range p.lines {
		b.WriteString(s.escapeLine(line) + "\n")
	}
	for i, hint := range f.Hints {
		if i == 0 {
			b.WriteString("\n")
		}
		b.WriteString(s.PaintErr(Cyan, "hint:") + " " + s.escapeText(hint, "  ") + "\n")
	}
	return b.String()
}

// Traceback writes an exception as an error's text has it, without its
// headline: frames, causes and members, a line each, unescaped.
func Traceback(r *hook.Raised) string {
	p := page{relative: func(path string) string { return path }}
	p.raised(0, r)
	return strings.Join(p.lines, "\n")
}

// page collects indented lines.
type page struct {
	lines    []string
	relative func(path string) string
}

// add adds a text at a depth of indentation, of which 0 is two blanks.
func (p *page) add(depth int, text string) {
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		line = strings.TrimRight(line, "\r")
		p.lines = append(p.lines, strings.TrimRight(strings.Repeat("  ", depth+1)+line, " "))
	}
}

// raised adds an exception's frames, then its members, then its causes. A
// worker's chain has an end; deepest guards against one that does not.
func (p *page) raised(depth int, r *hook.Raised) {
	const deepest = 30
	for _, frame := range shorten(r.Frames) {
		p.frame(depth, "", frame)
	}
	if depth >= deepest {
		return
	}
	for i, member := range r.Group {
		p.add(depth, fmt.Sprintf("%d of %d: %s", i+1, len(r.Group), member.Headline()))
		p.raised(depth+1, member)
	}
	if r.Cause != nil {
		p.add(depth, "caused by "+r.Cause.Headline())
		p.raised(depth+1, r.Cause)
	}
}

// frame adds where, and the line of source there.
func (p *page) frame(depth int, before string, f hook.Frame) {
	if f.File == "" {
		p.add(depth, f.Text) // what shorten left out
		return
	}
	where := fmt.Sprintf("%s%s:%d", before, p.relative(f.File), f.Line)
	if f.Function != "" {
		where += " in " + f.Function
	}
	p.add(depth, where)
	if f.Text == "" {
		return
	}
	p.add(depth+1, f.Text)
	if f.Column > 0 {
		p.add(depth+1, caret(f.Text, f.Column))
	}
}

// caret points at a column of text; its tabs are kept, so that it stays below.
func caret(text string, column int) string {
	var b strings.Builder
	for _, r := range text {
		if column--; column == 0 {
			break
		}
		if r != '\t' {
			r = ' '
		}
		b.WriteRune(r)
	}
	return b.String() + "^"
}

// shorten leaves out what only recursion makes so long: a frame that comes
// again and again, then the middle.
func shorten(frames []hook.Frame) []hook.Frame {
	const first, last = 5, 15
	frames = collapse(frames)
	if len(frames) <= first+last+1 {
		return frames
	}
	gap := hook.Frame{Text: fmt.Sprintf("… %s frames left out", grouped(int64(len(frames)-first-last)))}
	return slices.Concat(frames[:first], []hook.Frame{gap}, frames[len(frames)-last:])
}

// collapse tells a frame that comes more than three times in a row by number.
func collapse(frames []hook.Frame) []hook.Frame {
	const shown = 3
	var short []hook.Frame
	for i := 0; i < len(frames); {
		n := 1
		for i+n < len(frames) && frames[i+n] == frames[i] {
			n++
		}
		short = append(short, frames[i:i+min(n, shown)]...)
		if n > shown {
			short = append(short, hook.Frame{Text: fmt.Sprintf("… the same %s times more", grouped(int64(n-shown)))})
		}
		i += n
	}
	return short
}

// exit adds how a process ended, where it hung, and what it said last, unless
// that was shown.
func (p *page) exit(e hook.Exit, shown bool) {
	how := fmt.Sprintf("ended with exit code %d", e.Code)
	if e.Signal != "" {
		how = "ended by " + e.Signal
	}
	how += " after " + span(e.Uptime)
	if e.OutOfMemory {
		how += ", probably out of memory"
	}
	p.add(0, how)
	if len(e.Stacks) > 0 {
		p.add(0, "it was hanging here:")
		p.add(1, strings.Join(e.Stacks, "\n"))
	}
	if len(e.Stderr) > 0 && !shown {
		p.add(0, "last lines of its standard error:")
		p.add(1, strings.Join(e.Stderr, "\n"))
	}
}

// relative shortens a path inside the working directory.
func (s *Streams) relative(path string) string {
	cwd, err := s.getwd()
	if err != nil || !filepath.IsAbs(path) {
		return path
	}
	inside, err := filepath.Rel(cwd, path)
	if err != nil || !filepath.IsLocal(inside) {
		return path
	}
	return inside
}
