package ui

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

// Failure is the output of a failed command.
type Failure struct {
	// Err is the error, with all hints. It must not be nil.
	Err *hook.Error
	// Shown reports whether the plugin's output is on standard error. If so, the text
	// does not repeat its last lines.
	Shown bool
	// JSON makes Fail print an object on standard output.
	JSON bool
	// Line is the number of the input line that the error is about, or 0.
	Line int
}

// Fail prints a failure as text on standard error, with f.JSON as an object on standard output, or
// with LogJSON as a line of the log. It gives up if the reader reads nothing for ten seconds. On
// standard output it also gives up when ctx ends.
func (s *Streams) Fail(ctx context.Context, f Failure) {
	text := ""
	switch {
	case f.JSON && f.Err.Reason != hook.OutputFailed:
		ctx, cancel := context.WithTimeout(ctx, drainTimeout)
		defer cancel()
		_, _ = hook.Interruptible(ctx, func() (struct{}, error) { // no place is left to report an error
			return struct{}{}, s.writeJSON(map[string]*hook.Error{"error": f.Err})
		})
		return
	case s.LogJSON:
		text = s.logJSON("error", f.headline(), "error", compactJSON(f.Err))
	default:
		text = s.failureText(f)
	}
	s.screen.add(s.Err, text)
	s.screen.flush(s.Err, drainTimeout)
}

// unconnected lists the reasons of kind Handshake that concern the connection.
var unconnected = []string{"no-connection", "no-answer", "not-grpc", "tls"}

// headline returns the error after a label: the name of its hook, or its kind if there is no hook.
// The label of a failed connection is "connect".
func (f Failure) headline() string {
	if f.Err.Reason == hook.OutputFailed {
		return f.Err.Error()
	}
	label := cmp.Or(f.Err.Hook, string(f.Err.Kind))
	if f.Err.Hook == "" && slices.Contains(unconnected, f.Err.Reason) {
		label = "connect"
	}
	text := label + ": " + f.Err.Error()
	if f.Line > 0 {
		text = fmt.Sprintf("line %d: %s", f.Line, text)
	}
	return text
}

// failureText returns the whole text for standard error.
func (s *Streams) failureText(f Failure) string {
	headline := f.headline()
	l := &errorLines{cwd: s.cwd(), width: width(s.Err, s.ErrTTY)}
	l.cause(f.Err, headline, f.Shown)
	if f.Err.Plugin != "" {
		l.add(0, "plugin: "+f.Err.Plugin)
	}
	text := s.headed(Red, "error", headline) + l.text("")
	for i, hint := range hook.Words(f.Err.Hints) {
		if i == 0 {
			text += "\n"
		}
		text += s.headed(Cyan, "hint", hint)
	}
	return text
}

// ErrorJSON returns an error in its public form, which is harmless on a terminal.
func ErrorJSON(e *hook.Error) json.RawMessage { return compactJSON(e) }

// errorLines collects the indented lines below an error's headline.
type errorLines struct {
	lines []string
	cwd   string // the directory to which paths are relative, or "" if unknown
	width int    // the width of a line, or 0 for no limit
}

// add adds a text at a depth of indentation. Depth 0 is two blanks.
func (l *errorLines) add(depth int, text string) {
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		l.lines = append(l.lines, strings.TrimRight(strings.Repeat("  ", depth+1)+line, " \r"))
	}
}

// text returns all lines with further indentation.
func (l *errorLines) text(indent string) string {
	text := ""
	for _, line := range l.lines {
		text += indent + line + "\n"
	}
	return text
}

// cause adds the details of an error that its headline does not contain. shown reports whether the
// plugin's output is on standard error.
func (l *errorLines) cause(e *hook.Error, headline string, shown bool) {
	for _, line := range e.Details(headline, l.cwd) {
		l.add(0, line)
	}
	if e.Exit != nil {
		l.exit(*e.Exit, shown)
	}
	for _, tried := range e.Tried {
		if !strings.HasPrefix(tried, "searched: ") && !strings.HasPrefix(tried, "skipped: ") {
			tried = "tried: " + tried
		}
		l.add(0, folded(tried, "  ", 0, l.width-len("  ")))
	}
}

// exit adds how a process ended, where it hung, and its last lines of output unless they were
// shown.
func (l *errorLines) exit(e hook.Exit, shown bool) {
	how := "ended with " + e.String()
	if e.Signal != "" {
		how = "ended by " + e.Signal
	}
	how += " after " + schema.Span(e.Uptime)
	switch {
	case e.Limit != "":
		how += ", over its " + e.Limit
	case e.OutOfMemory:
		how += ", probably out of memory"
	}
	l.add(0, how)
	if len(e.Stacks) > 0 {
		l.add(0, "it hung here:")
		l.add(1, strings.Join(e.Stacks, "\n"))
	}
	if len(e.Stderr) > 0 && !shown {
		l.add(0, "last lines of its output:")
		l.add(1, strings.Join(e.Stderr, "\n"))
	}
}

// finding adds the place and the error of a finding, unless its message contains them.
func (l *errorLines) finding(f hook.Finding, shown bool) {
	if f.File != "" && (f.Err == nil || f.Err.Python == nil) { // the traceback of an exception has the places
		where := schema.Relative(f.File, l.cwd)
		if f.Line > 0 {
			where = fmt.Sprintf("%s:%d", where, f.Line)
		}
		if !strings.Contains(f.Message, where) {
			l.add(0, where)
		}
	}
	if f.Err == nil {
		return
	}
	headline := f.Message
	if cause := f.Err.Err; cause != nil && !strings.Contains(headline, cause.Error()) {
		l.add(0, cause.Error())
		headline += "\n" + cause.Error()
	}
	l.cause(f.Err, headline, shown)
}
