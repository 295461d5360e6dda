package hook

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/pyplug/pyplug/runner/schema"
)

var stackLine = regexp.MustCompile(`^  File "(.*)", line (\d+) in (.*)$`)

// StackFrames parses the output of Python's faulthandler.dump_traceback. It returns
// the frames of the current thread, or else of the first one, oldest frame first,
// and ignores other lines.
func StackFrames(lines []string) []Frame {
	threads, current := [][]Frame{nil}, 0
	for _, line := range lines {
		newest := len(threads) - 1
		if strings.HasPrefix(line, "Thread ") || strings.HasPrefix(line, "Current thread ") {
			threads = append(threads, nil)
			if strings.HasPrefix(line, "Current ") {
				current = newest + 1
			}
		} else if m := stackLine.FindStringSubmatch(line); m != nil {
			number, _ := strconv.Atoi(m[2]) // a number that is too large is not a line
			threads[newest] = append(threads[newest], Frame{File: schema.Path(m[1]), Line: number, Function: m[3]})
		}
	}
	for _, thread := range append([][]Frame{threads[current]}, threads...) {
		if len(thread) > 0 {
			slices.Reverse(thread)
			return thread
		}
	}
	return nil
}
