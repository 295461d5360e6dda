package ui

import (
	"errors"
	"fmt"
	"path/filepath"
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
// either; on all of them soon after [Streams.ShortenWaits].
func (s *Streams) Fail(f Failure) {
	switch {
	case f.JSON && !f.unwritten():
		s.failOut(fmt.Appendf(nil, `{"schema":1,"error":%s}`+"\n", f.ErrorJSON()))
	case s.LogJSON:
		s.failErr(string(s.appendLog(nil, "error", f.headline(), []any{"error", f.ErrorJSON()})))
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

// headline is the error with its subject in front, but for one of the output, which is
// no hook's.
func (f Failure) headline() string {
	if f.unwritten() {
		return f.Err.Error()
	}
	return f.subject() + ": " + f.Err.Error()
}

// unwritten tells whether standard output is what failed, and so takes no error either.
func (f Failure) unwritten() bool {
	e := (*OutputError)(nil)
	return errors.As(f.Err, &e)
}

// OutputError says that standard output did not take what was to be printed.
type OutputError struct{ Err error }

// Error says what the system said.
func (e *OutputError) Error() string { return "standard output: " + e.Err.Error() }

// Unwrap returns what the system said.
func (e *OutputError) Unwrap() error { return e.Err }

// failureText is the whole text, for standard error.
func (s *Streams) failureText(f Failure) string {
	headline := f.headline()
	p := s.newPage()
	p.cause(f.Err, headline, f.Shown)
	for _, context := range f.Context {
		p.add(0, context)
	}

	var b strings.Builder
	b.WriteString(s.PaintErr(Red, "error:") + " " + s.escapeText(headline, "  ") + "\n")
	for _, line := range p.lines {
		b.WriteString(line + "\n")
	}
	for i, hint := range f.withHints().Hints {
		if i == 0 {
			b.WriteString("\n")
		}
		b.WriteString(s.PaintErr(Cyan, "hint:") + " " + s.escapeText(hint, "  ") + "\n")
	}
	return b.String()
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
