package pyworker

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
	"github.com/pyplug/pyplug/runner/wire"
)

// answer is the body of an error frame.
type answer struct {
	Reason  string       `json:"reason"`
	Message string       `json:"message"`
	Python  *hook.Raised `json:"python"`
	Place   string       `json:"place"`
	Hooks   []string     `json:"hooks"`
	Why     string       `json:"why"`
	Missing string       `json:"missing"`
}

// readAnswer reads an error frame; any other frame gives the zero answer.
func readAnswer(f wire.Frame) (answer, error) {
	var a answer
	if f.Type != wire.Error {
		return a, nil
	}
	if err := json.Unmarshal(f.Body, &a); err != nil {
		return a, fmt.Errorf("the worker's error: %w", err)
	}
	return a, nil
}

// raised is what Python raised, with the lines of its source.
func (a answer) raised() *hook.Raised {
	addSource(a.Python, make(map[string][]string))
	return a.Python
}

// failure maps an error frame to the error of the call, and any other to nil.
func (w *instance) failure(p *pending, f wire.Frame) *hook.Error {
	if f.Type != wire.Error {
		return nil
	}
	a, err := readAnswer(f)
	if err != nil {
		return &hook.Error{Kind: hook.Internal, Hook: p.hook, Begun: true, Err: err}
	}
	e := &hook.Error{Kind: hook.Failed, Hook: p.hook, Begun: true}
	switch a.Reason {
	case "raised":
		e.Python = a.raised()
	case "result":
		e.Err = &hook.ResultError{Place: a.Place, Problem: a.Message}
	case "arguments":
		e.Kind, e.Err = hook.Request, &schema.ArgumentError{Problem: a.Message}
	case "hook":
		e.Kind, e.Begun = hook.Request, false
		e.Err = &schema.NoHookError{Hook: p.hook, Known: a.Hooks, Why: a.Why}
	case "canceled": // not for its caller, who does not look at the answer then
		e.Err = errors.New("interrupted by a signal that is not pyplug's")
		if w.stopping.Load() {
			e.Kind, e.Err = hook.Canceled, errStopped
		}
		if raised := a.raised(); raised != nil {
			e.At = raised.Frames
		}
	default:
		e.Kind, e.Err = hook.Internal, fmt.Errorf("the worker's error has the unknown reason %q", a.Reason)
	}
	return e
}

const (
	maxSource = 4 << 20 // of a source file that is read for one line
	maxLine   = 500     // bytes shown of a source line
)

// addSource fills in the source lines of a traceback. Go reads them, so that
// the worker needs no traceback module.
func addSource(r *hook.Raised, files map[string][]string) {
	if r == nil {
		return
	}
	for i, f := range r.Frames {
		if f.Text == "" {
			r.Frames[i].Text = sourceLine(f.File, f.Line, files)
		}
	}
	addSource(r.Cause, files)
	for _, member := range r.Group {
		addSource(member, files)
	}
}

// sourceLine returns a line without its indentation, empty when it cannot be
// had. The file may be gone, or no file at all, such as "<string>".
func sourceLine(file string, line int, files map[string][]string) string {
	lines, ok := files[file]
	if !ok {
		lines = sourceLines(file)
		files[file] = lines
	}
	if line < 1 || line > len(lines) {
		return ""
	}
	text := strings.TrimSpace(lines[line-1])
	return text[:min(len(text), maxLine)]
}

func sourceLines(file string) []string {
	info, err := os.Stat(file)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxSource {
		return nil
	}
	f, err := os.Open(file)
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }()
	var lines []string
	s := bufio.NewScanner(f)
	s.Buffer(nil, maxSource+1)
	for s.Scan() {
		lines = append(lines, s.Text())
	}
	return lines
}

var workerLine = regexp.MustCompile(`^  File "(?:.*[/\\])?_pyplug_\w+\.py", line \d+`)

// ownFrame tells whether a line of faulthandler's is a frame of the worker.
func ownFrame(line string) bool {
	return strings.HasPrefix(line, `  File "`) &&
		(workerLine.MatchString(line) || line == `  File "<string>", line 1 in <module>`)
}

// trimmer takes the worker's own frames out of what a plugin prints, a line at a
// time: those of faulthandler, and those of a traceback with the source below them.
// The zero value is where nothing was printed yet.
type trimmer struct{ below int } // lines since one's own frame; 0 for none

// drops tells whether the next line is to be left out.
func (t *trimmer) drops(line string) bool {
	switch {
	case ownFrame(line):
		t.below = 0
		if strings.Contains(line, ", in ") { // faulthandler shows no source
			t.below = 1
		}
		return true
	case t.below == 1 && strings.HasPrefix(line, "    "),
		t.below > 1 && strings.HasPrefix(line, "    ") && strings.Trim(line, " ~^") == "":
		t.below++
		return true
	}
	t.below = 0
	return false
}

// trimmed is what is left of lines.
func trimmed(lines []string) []string {
	return slices.DeleteFunc(slices.Clone(lines), new(trimmer).drops)
}

// ofLoop matches the files of asyncio that run the worker's loop.
var ofLoop = regexp.MustCompile(`[/\\]asyncio[/\\](?:base_events|events|runners|futures|tasks)\.py$`)

// stackFrames is where a stack of faulthandler's says that the plugin was: the
// worker's own frames are left out, and those of the loop that it runs before the
// first of the user's, and the lines of the source added.
func stackFrames(lines []string) []hook.Frame {
	frames := hook.StackFrames(slices.DeleteFunc(slices.Clone(lines), func(line string) bool {
		return ownFrame(line) || strings.HasPrefix(line, `  File "<`)
	}))
	if own := slices.IndexFunc(frames, func(f hook.Frame) bool { return !ofLoop.MatchString(f.File) }); own > 0 {
		frames = frames[own:]
	}
	files := make(map[string][]string)
	for i, f := range frames {
		frames[i].Text = sourceLine(f.File, f.Line, files)
	}
	return frames
}
