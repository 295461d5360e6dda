package hook

import (
	"regexp"
	"strconv"
	"strings"
)

var stackLine = regexp.MustCompile(`^  File "(.*)", line (\d+) in (.*)$`)

// StackFrames parses the output of Python's faulthandler.dump_traceback. It returns
// the frames of the current thread, or else of the first one, oldest frame first,
// and ignores other lines.
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
			number, _ := strconv.Atoi(m[2]) // a number that is too large is not a line
			thread = append([]Frame{{File: m[1], Line: number, Function: m[3]}}, thread...)
		}
	}
	flush()
	return best
}
