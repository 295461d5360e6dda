package ui

import (
	"cmp"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
)

// Failure is what a failed command prints.
type Failure struct {
	// Err is what went wrong, with all hints. It must not be nil.
	Err *hook.Error
	// Shown says that standard error has what the plugin printed: the text does not
	// repeat its last lines.
	Shown bool
	// JSON prints an object on standard output.
	JSON bool
}

const (
	// failTimeout is how long a reader may read nothing of the error itself.
	failTimeout = 2 * time.Second
	// userTimeout is the same for a terminal, which its user may have paused, and for
	// standard output, whose reader works on what it gets.
	userTimeout = 30 * time.Second
)

// Fail prints a failure: as text on standard error; with f.JSON as an object on
// standard output; with LogJSON as a line of the log. It gives up on a reader of
// standard error that reads nothing for two seconds, and on a terminal or a reader of
// standard output after thirty, or two if that did not read before either; on all of
// them soon after [Streams.ShortenWaits].
func (s *Streams) Fail(f Failure) {
	switch {
	case f.JSON && !f.ofOutput():
		s.failOut(f)
	case s.LogJSON:
		s.failErr(s.logJSON("error", f.headline(), "error", compactJSON(f.Err)))
	default:
		s.failErr(s.failureText(f))
	}
}

func (s *Streams) failErr(text string) {
	s.screen.add(s.Err, text)
	if s.ErrTTY {
		s.screen.flush(userTimeout)
		return
	}
	s.screen.flush(failTimeout)
}

// failOut writes to standard output, where a write may be in progress that its reader
// does not read.
func (s *Streams) failOut(f Failure) {
	limit := failTimeout
	if s.outMu.TryLock() {
		s.outMu.Unlock()
		limit = userTimeout
	}
	done := make(chan struct{})
	go func() { // ends with the reader, or with the process
		defer close(done)
		_ = s.writeJSON(struct {
			Error *hook.Error `json:"error"`
		}{f.Err}) // there is nowhere to report an error
	}()
	select {
	case <-done:
		return
	case <-time.After(limit):
		return
	case <-s.shortened:
	}
	select {
	case <-done:
	case <-time.After(shortWriteTimeout):
	}
}

// headline is the error with its hook, or else its kind, in front.
func (f Failure) headline() string {
	if f.ofOutput() {
		return f.Err.Error()
	}
	return cmp.Or(f.Err.Hook, f.Err.Kind.String()) + ": " + f.Err.Error()
}

// ofOutput reports whether standard output is what failed, which no hook caused, and
// which takes no error either.
func (f Failure) ofOutput() bool {
	e := (*OutputError)(nil)
	return errors.As(f.Err, &e)
}

// OutputError says that a write to standard output failed.
type OutputError struct{ Err error }

// Error says what the system said.
func (e *OutputError) Error() string { return "standard output: " + e.Err.Error() }

// Unwrap returns what the system said.
func (e *OutputError) Unwrap() error { return e.Err }

// failureText is the whole text, for standard error.
func (s *Streams) failureText(f Failure) string {
	headline := f.headline()
	target := s.err()
	l := newErrorLines(target, s.cwd(), 0)
	l.cause(f.Err, headline, f.Shown)
	if f.Err.Plugin != "" {
		l.add(0, "plugin: "+f.Err.Plugin)
	}

	var b strings.Builder
	b.WriteString(target.headed(Red, "error", headline))
	for _, line := range l.lines {
		b.WriteString(line + "\n")
	}
	for i, hint := range f.Err.Hints {
		if i == 0 {
			b.WriteString("\n")
		}
		b.WriteString(target.headed(Cyan, "hint", hint))
	}
	return b.String()
}

// relative shortens a path inside a directory.
func relative(dir, path string) string {
	inside, err := filepath.Rel(dir, path)
	if err != nil || !filepath.IsLocal(inside) {
		return path
	}
	return inside
}

// LineErrorJSON is an error in its public shape with the exception's "type" and its
// "traceback" as text, as an answer of `run --lines` has it.
func LineErrorJSON(e *hook.Error) json.RawMessage {
	if e.Python == nil {
		return compactJSON(e)
	}
	return joinJSON(e, struct {
		Type      string `json:"type"`
		Traceback string `json:"traceback,omitempty"`
	}{e.Python.Type, traceback(e.Python)})
}
