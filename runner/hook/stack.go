package hook

import (
	"regexp"
	"strconv"
	"strings"
)

var stackLine = regexp.MustCompile(`^  File "(.*)", line (\d+) in (.*)$`)

// StackFrames reads what Python's faulthandler writes: the frames of the thread
// that it calls current, else of the first, the oldest frame first. Lines of
// another kind are passed over. The format is faulthandler.dump_traceback's.
func StackFrames(lines []string) []Frame {
	var best, thread []Frame
	current, found := false, false
	flush := func() {
		if len(thread) > 0 && (!found || current) {
			best, found = thread, true
		}
		thread = nil
	}
	for _, line := range lines {
		if strings.HasPrefix(line, "Thread ") || strings.HasPrefix(line, "Current thread ") {
			flush()
			current = strings.HasPrefix(line, "Current ")
			continue
		}
		if m := stackLine.FindStringSubmatch(line); m != nil {
			number, _ := strconv.Atoi(m[2]) // digits; one too large is no line
			thread = append([]Frame{{File: m[1], Line: number, Function: m[3]}}, thread...)
		}
	}
	flush()
	return best
}
