package pyworker

import (
	"regexp"
	"slices"
	"strings"

	"github.com/pyplug/pyplug/runner/hook"
)

var workerLine = regexp.MustCompile(`^  File "<pyplug \w+>", line \d+`)

// ownFrame reports whether a printed line is a frame of the worker, in a stack of
// faulthandler or in a traceback. No source line follows such a frame.
func ownFrame(line string) bool {
	return strings.HasPrefix(line, `  File "`) &&
		(workerLine.MatchString(line) || line == `  File "<string>", line 1 in <module>`)
}

// trimmed returns lines without the frames of the worker.
func trimmed(lines []string) []string {
	return slices.DeleteFunc(slices.Clone(lines), ownFrame)
}

// loopFile matches the files of asyncio that run the worker's loop.
var loopFile = regexp.MustCompile(`[/\\]asyncio[/\\](?:base_events|events|runners|futures|tasks)\.py$`)

// stackFrames returns where the plugin was, from a stack that faulthandler printed. It
// omits the worker's own frames, and the frames of the event loop that called the plugin. It adds
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
