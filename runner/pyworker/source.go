package pyworker

import (
	"os"
	"strings"

	"github.com/pyplug/pyplug/runner/hook"
)

const (
	maxSource = 4 << 20 // bytes of the largest source file that is read
	maxLine   = 500     // bytes shown of a source line
)

// addSource adds the source lines to a traceback. Go reads them, so that the worker
// needs no traceback module.
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

// sourceLine returns a line without its indentation, or nothing if it cannot be read:
// the file may be gone, or no file at all, such as "<string>".
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
	text, _ := os.ReadFile(file)
	return strings.Split(string(text), "\n")
}
