package ui

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pyplug/pyplug/runner/hook"
)

// Traceback is an exception as in the text of an error, without its headline: frames,
// causes and members of a group, a line each, not escaped.
func Traceback(r *hook.Raised) string {
	var p page
	p.raised(0, r)
	return strings.Join(p.lines, "\n")
}

// raised adds an exception's frames, the members of a group, and its causes. deepest
// guards against a chain without an end.
func (p *page) raised(depth int, r *hook.Raised) {
	const deepest = 30
	for _, frame := range shorten(r.Frames) {
		p.frame(depth, "", frame)
	}
	if depth >= deepest {
		return
	}
	for i, member := range r.Group {
		p.add(depth, fmt.Sprintf("%d of %d: %s", i+1, len(r.Group), member.Headline()))
		p.raised(depth+1, member)
	}
	if r.Cause != nil {
		p.add(depth, "caused by "+r.Cause.Headline())
		p.raised(depth+1, r.Cause)
	}
}

// frame adds a place and its line of source.
func (p *page) frame(depth int, before string, f hook.Frame) {
	if f.File == "" {
		p.add(depth, f.Text) // in place of what shorten left out
		return
	}
	where := fmt.Sprintf("%s%s:%d", before, relative(p.cwd, f.File), f.Line)
	if f.Function != "" {
		where += " in " + f.Function
	}
	p.add(depth, where)
	if f.Text == "" {
		return
	}
	first, rest, more := strings.Cut(f.Text, "\n")
	if f.Column > 0 {
		start := byteAt(first, f.Column)
		p.point(depth+1, first, start, start)
	} else {
		p.add(depth+1, first)
	}
	if more {
		p.add(depth+1, rest)
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

// shorten leaves out what makes the frames of a recursion long: a frame that repeats,
// then the middle.
func shorten(frames []hook.Frame) []hook.Frame {
	const first, last = 5, 15
	frames = collapse(frames)
	if len(frames) <= first+last+1 {
		return frames
	}
	gap := hook.Frame{Text: fmt.Sprintf("… %s frames left out", grouped(int64(len(frames)-first-last)))}
	return slices.Concat(frames[:first], []hook.Frame{gap}, frames[len(frames)-last:])
}

// collapse counts a frame that comes more than three times in a row.
func collapse(frames []hook.Frame) []hook.Frame {
	const shown = 3
	var short []hook.Frame
	for i := 0; i < len(frames); {
		n := 1
		for i+n < len(frames) && frames[i+n] == frames[i] {
			n++
		}
		short = append(short, frames[i:i+min(n, shown)]...)
		if n > shown {
			short = append(short, hook.Frame{Text: fmt.Sprintf("… the same %s times more", grouped(int64(n-shown)))})
		}
		i += n
	}
	return short
}
