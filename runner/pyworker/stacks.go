package pyworker

import (
	"regexp"
	"slices"
	"strings"

	"github.com/pyplug/pyplug/runner/hook"
)

var workerLine = regexp.MustCompile(`^  File "(?:.*[/\\])?_pyplug_\w+\.py", line \d+`)

// ownFrame reports whether a line of faulthandler's is a frame of the worker.
func ownFrame(line string) bool {
	return strings.HasPrefix(line, `  File "`) &&
		(workerLine.MatchString(line) || line == `  File "<string>", line 1 in <module>`)
}

// trimmer removes the worker's own frames from what a plugin prints, a line at a
// time: those of faulthandler, and those of a traceback with the source below them.
// The zero value is ready for the first line.
type trimmer struct{ below int } // lines since a frame of the worker; 0 for none

// drops reports whether the next line must be removed.
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

// trimmed returns lines without the frames of the worker.
func trimmed(lines []string) []string {
	return slices.DeleteFunc(slices.Clone(lines), new(trimmer).drops)
}

// loopFile matches the files of asyncio that run the worker's loop.
var loopFile = regexp.MustCompile(`[/\\]asyncio[/\\](?:base_events|events|runners|futures|tasks)\.py$`)

// stackFrames is where the plugin was by a stack of faulthandler's. It leaves out the
// worker's own frames, and those of its loop before the first of the user's, and adds
// the source lines.
func stackFrames(lines []string) []hook.Frame {
	frames := hook.StackFrames(slices.DeleteFunc(slices.Clone(lines), func(line string) bool {
		return ownFrame(line) || strings.HasPrefix(line, `  File "<`)
	}))
	if own := slices.IndexFunc(frames, func(f hook.Frame) bool { return !loopFile.MatchString(string(f.File)) }); own > 0 {
		frames = frames[own:]
	}
	files := make(map[string][]string)
	for i, f := range frames {
		frames[i].Text = sourceLine(string(f.File), f.Line, files)
	}
	return frames
}
