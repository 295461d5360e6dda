package grpcplugin

import (
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

var (
	// tracebackLine is a frame of a traceback.
	tracebackLine = pattern(`^  File "(.+)", line (\d+)(?:, in (.+))?$`)
	raisedLine    = pattern(`^([A-Za-z_][\w.]*)(?:: (.*))?$`)
	// moduleLine is what Python says of a missing module, with its frames or,
	// when it was started with -m, without.
	moduleLine = pattern(`No module named '?([A-Za-z_]\w*)`)
)

// pattern compiles a regular expression when it is first needed, which for these
// is only when something went wrong.
func pattern(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}

// lastTraceback reads the exception that a Python ended with from the last
// lines of its standard error; nil when they do not end in one.
func lastTraceback(lines []string) *hook.Raised {
	end := len(lines)
	for end > 0 && strings.TrimSpace(lines[end-1]) == "" {
		end--
	}
	// The headline is the last line that is not indented after a frame.
	head := -1
	for i := end - 1; i >= 0; i-- {
		if strings.HasPrefix(lines[i], " ") {
			break
		}
		head = i
	}
	if head < 1 {
		return nil
	}
	m := raisedLine().FindStringSubmatch(lines[head])
	if m == nil {
		return nil
	}
	raised := &hook.Raised{Type: m[1], Message: strings.Join(append([]string{m[2]}, lines[head+1:end]...), "\n")}
	begin := head
	for begin > 0 && strings.HasPrefix(lines[begin-1], " ") {
		begin--
	}
	for _, line := range lines[begin:head] {
		if m := tracebackLine().FindStringSubmatch(line); m != nil {
			number, _ := strconv.Atoi(m[2]) // digits; one too large is no line
			raised.Frames = append(raised.Frames, hook.Frame{File: m[1], Line: number, Function: m[3]})
		} else if n := len(raised.Frames); n > 0 && raised.Frames[n-1].Text == "" && !marker(line) {
			raised.Frames[n-1].Text = strings.TrimSpace(line)
		}
	}
	if len(raised.Frames) == 0 {
		return nil
	}
	// What runs the import system is not the user's.
	frames := raised.Frames[:0]
	for _, f := range raised.Frames {
		if !strings.HasPrefix(f.File, "<frozen ") {
			frames = append(frames, f)
		}
	}
	raised.Frames = frames
	return raised
}

// marker tells whether a line of a traceback only points at the one above it.
func marker(line string) bool { return strings.Trim(line, " ^~") == "" }

// missingModule is the error for an import that failed, nil for others.
func missingModule(raised *hook.Raised, lines []string) error {
	text := ""
	switch {
	case raised != nil && raised.Type == "ModuleNotFoundError":
		text = raised.Headline()
	case raised == nil && len(lines) > 0 && strings.Contains(lines[len(lines)-1], ": No module named "):
		text = lines[len(lines)-1]
	}
	if m := moduleLine().FindStringSubmatch(text); m != nil {
		return &schema.MissingModuleError{Module: m[1], Text: text}
	}
	return nil
}
