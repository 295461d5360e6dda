package ui

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pyplug/pyplug/runner/hook"
)

// traceback is an exception as in the text of an error, without its headline: frames,
// causes and members of a group, a line each, not escaped.
func traceback(r *hook.Raised) string {
	var l errorLines
	l.raised(0, r)
	return strings.Join(l.lines, "\n")
}

// raised adds an exception's frames, the members of a group, and its causes. deepest
// guards against a chain without an end.
func (l *errorLines) raised(depth int, r *hook.Raised) {
	const deepest = 30
	for _, frame := range shorten(r.Frames) {
		l.frame(depth, "", frame)
	}
	if depth >= deepest {
		return
	}
	for i, member := range r.Group {
		l.add(depth, fmt.Sprintf("%d of %d: %s", i+1, len(r.Group), member.Headline()))
		l.raised(depth+1, member)
	}
	if r.Cause != nil {
		l.add(depth, "caused by "+r.Cause.Headline())
		l.raised(depth+1, r.Cause)
	}
}

// frame adds a place and its line of source.
func (l *errorLines) frame(depth int, before string, f hook.Frame) {
	if f.File == "" {
		l.add(depth, f.Text) // in place of what shorten left out
		return
	}
	where := fmt.Sprintf("%s%s:%d", before, relative(l.cwd, f.File), f.Line)
	if f.Function != "" {
		where += " in " + f.Function
	}
	l.add(depth, where)
	if f.Text == "" {
		return
	}
	first, rest, more := strings.Cut(f.Text, "\n")
	if f.Column > 0 {
		start := byteAt(first, f.Column)
		l.point(depth+1, first, start, start)
	} else {
		l.add(depth+1, first)
	}
	if more {
		l.add(depth+1, rest)
	}
}

// byteAt is the index of a column, which counts characters from 1, at most the end of
// text.
func byteAt(text string, column int) int {
	for i := range text {
		if column--; column == 0 {
			return i
		}
	}
	return len(text)
}

// shorten leaves out the middle of a long traceback. The worker may have left out
// frames before.
func shorten(frames []hook.Frame) []hook.Frame {
	const first, last = 5, 15
	if len(frames) <= first+last+1 {
		return frames
	}
	return slices.Concat(frames[:first], []hook.Frame{{Text: "… frames left out"}}, frames[len(frames)-last:])
}
