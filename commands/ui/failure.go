package ui

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

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
	// Line is the number of the input line that the error is about, 0 for none.
	Line int
}

// OutputFailed is the reason of an error of standard output, which takes no error
// either.
const OutputFailed = "output"

// Fail prints a failure: as text on standard error; with f.JSON as an object on
// standard output; with LogJSON as a line of the log. It gives up on a reader that
// reads nothing for ten seconds, and on that of standard output when ctx ends.
func (s *Streams) Fail(ctx context.Context, f Failure) {
	text := ""
	switch {
	case f.JSON && f.Err.Reason != OutputFailed:
		ctx, cancel := context.WithTimeout(ctx, drainTimeout)
		defer cancel()
		_, _ = hook.Interruptible(ctx, func() (struct{}, error) { // there is nowhere to report an error
			return struct{}{}, s.writeJSON(struct {
				Error *hook.Error `json:"error"`
			}{f.Err})
		})
		return
	case s.LogJSON:
		text = s.logJSON("error", f.headline(), "error", compactJSON(f.Err))
	default:
		text = s.failureText(f)
	}
	s.screen.add(s.Err, text)
	s.screen.flush(drainTimeout)
}

// unconnected are the reasons of kind Handshake that concern the connection.
var unconnected = []string{"no-connection", "no-answer", "not-grpc", "tls"}

// headline is the error with its hook in front, or else with its kind, which of a failed
// connection is "connect".
func (f Failure) headline() string {
	if f.Err.Reason == OutputFailed {
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

// failureText is the whole text, for standard error.
func (s *Streams) failureText(f Failure) string {
	headline := f.headline()
	l := &errorLines{cwd: s.cwd()}
	l.cause(f.Err, headline, f.Shown)
	if f.Err.Plugin != "" {
		l.add(0, "plugin: "+f.Err.Plugin)
	}
	text := headed(Red, "error", headline) + l.text("")
	for i, hint := range f.Err.Hints {
		if i == 0 {
			text += "\n"
		}
		text += headed(Cyan, "hint", hint)
	}
	return text
}

// ErrorJSON returns an error in its public shape, harmless on a terminal.
func ErrorJSON(e *hook.Error) json.RawMessage { return compactJSON(e) }
