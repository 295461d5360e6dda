package pyworker

import (
	"strings"

	"github.com/pyplug/pyplug/interp/pysrc"
	"github.com/pyplug/pyplug/runner/hook"
)

// maxLine is the maximum number of bytes of a source line.
const maxLine = 500

// addSource adds the source lines to a traceback. Go reads them, so that the worker
// does not need the module traceback.
func addSource(r *hook.Raised, files map[string][]string) {
	if r == nil {
		return
	}
	for i, f := range r.Frames {
		if f.Text == "" {
			r.Frames[i].Text = sourceLine(string(f.File), f.Line, files)
		}
	}
	addSource(r.Cause, files)
	for _, member := range r.Group {
		addSource(member, files)
	}
}

// sourceLine returns a line without its indentation, or "" if it cannot be read, because
// the file is gone, or the name is not a file, such as "<string>".
func sourceLine(file string, line int, files map[string][]string) string {
	lines, ok := files[file]
	if !ok {
		source, _ := pysrc.Read(file, pysrc.LargestFile) // empty if it cannot be read
		lines = strings.Split(source, "\n")
		files[file] = lines
	}
	if line < 1 || line > len(lines) {
		return ""
	}
	text := strings.TrimSpace(lines[line-1])
	return text[:min(len(text), maxLine)]
}
