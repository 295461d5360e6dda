package grpcplugin

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

var (
	// frameLine is a frame of a traceback, raisedLine its last line.
	frameLine  = lazyRegexp(`^  File "(.+)", line (\d+)(?:, in (.+))?$`)
	raisedLine = lazyRegexp(`^([A-Za-z_][\w.]*)(?:: (.*))?$`)
	// moduleLine is what Python prints about a missing module, in a traceback or, if
	// it was started with -m, without one.
	moduleLine = lazyRegexp(`No module named '?([A-Za-z_][\w.]*)`)
)

// lazyRegexp compiles a regular expression on first use: these are needed only when
// something goes wrong.
func lazyRegexp(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}

// lastTraceback parses the exception that a Python ended with from the last lines of
// its standard error. It returns nil if they do not end in one.
func lastTraceback(lines []string) *hook.Raised {
	for len(lines) > 0 && strings.TrimSpace(lines[len(lines)-1]) == "" {
		lines = lines[:len(lines)-1]
	}
	// The message may have several lines, and indented ones; it follows the last frame.
	last := len(lines)
	for last > 0 && !frameLine().MatchString(lines[last-1]) {
		last--
	}
	for last > 0 && last < len(lines) && strings.HasPrefix(lines[last], " ") {
		last++
	}
	if last == 0 || last == len(lines) {
		return nil
	}
	m := raisedLine().FindStringSubmatch(lines[last])
	if m == nil {
		return nil
	}
	raised := &hook.Raised{Type: m[1], Message: strings.Join(append([]string{m[2]}, lines[last+1:]...), "\n")}
	first := last
	for first > 0 && strings.HasPrefix(lines[first-1], " ") {
		first--
	}
	for _, line := range lines[first:last] {
		if m := frameLine().FindStringSubmatch(line); m != nil {
			number, _ := strconv.Atoi(m[2]) // digits; 0 if there are too many
			raised.Frames = append(raised.Frames, hook.Frame{File: schema.Path(m[1]), Line: number, Function: m[3]})
		} else if n := len(raised.Frames); n > 0 && raised.Frames[n-1].Text == "" && strings.Trim(line, " ^~") != "" {
			raised.Frames[n-1].Text = strings.TrimSpace(line)
		}
	}
	raised.Frames = slices.DeleteFunc(raised.Frames, func(f hook.Frame) bool {
		return strings.HasPrefix(string(f.File), "<frozen ") // the import system's
	})
	return raised
}

// missingModule is the error for an import that failed, or nil.
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
