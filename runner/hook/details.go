package hook

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pyplug/pyplug/runner/schema"
)

// Limits of [Error.Details].
const (
	maxDetails   = 400 // lines
	maxMembers   = 15  // members of a group
	deepest      = 30  // depth of causes and groups
	firstFrames  = 5   // frames at the start of a long traceback
	lastFrames   = 15
	minRepeats   = 3 // the fewest repetitions that are folded
	longestCycle = 8 // number of frames that are folded together
)

// Details returns the lines below an error's headline: its drawing, its gRPC status, its exception
// with notes, members and causes, and the place of a canceled call. They do not repeat the
// headline. Paths below dir are relative to it.
func (e *Error) Details(headline, dir string) []string {
	d := &details{dir: dir}
	for _, line := range e.Drawing {
		d.add(0, line)
	}
	if e.Status != nil {
		d.status(e.Status, headline)
	}
	if e.Python != nil {
		if !strings.Contains(headline, e.Python.Headline()) {
			d.add(0, e.Python.Headline())
		}
		d.raised(0, e.Python)
	}
	for _, frame := range shorten(e.At) {
		d.frame(0, "was at ", frame)
	}
	if d.more > 0 {
		d.lines = append(d.lines, fmt.Sprintf("… %s left out", schema.Plural(d.more, "line")))
	}
	return d.lines
}

// details collects lines.
type details struct {
	lines []string
	more  int // number of lines beyond maxDetails
	dir   string
}

// add adds a text. It indents each line by two blanks for each level of depth.
func (d *details) add(depth int, text string) {
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		if len(d.lines) >= maxDetails {
			d.more++
			continue
		}
		d.lines = append(d.lines, strings.TrimRight(strings.Repeat("  ", depth)+line, " \r"))
	}
}

// status adds a gRPC status: its code unless the headline contains it, and a line for each of its
// details.
func (d *details) status(status *RPCStatus, headline string) {
	if !strings.Contains(headline, status.Code) {
		text := "status: " + status.Code
		if status.Message != "" {
			text += ": " + status.Message
		}
		d.add(0, text)
	}
	for _, detail := range status.Details {
		d.add(0, string(detail))
	}
}

// raised adds an exception's frames, the members of a group, and its causes.
func (d *details) raised(depth int, r *Raised) {
	for _, frame := range shorten(r.Frames) {
		d.frame(depth, "", frame)
	}
	if depth >= deepest {
		return
	}
	for i, member := range r.Group[:min(len(r.Group), maxMembers)] {
		d.add(depth, fmt.Sprintf("%d of %d: %s", i+1, len(r.Group), member.Headline()))
		d.raised(depth+1, member)
	}
	if more := len(r.Group) - maxMembers; more > 0 {
		d.add(depth, fmt.Sprintf("… %d more", more))
	}
	if r.Cause != nil {
		d.add(depth, "caused by "+r.Cause.Headline())
		d.raised(depth+1, r.Cause)
	}
}

// frame adds a place and its line of source, with a caret below its column. It adds how often the
// frame repeats.
func (d *details) frame(depth int, before string, f Frame) {
	if f.File == "" {
		d.add(depth, f.Text) // the text replaces the frames that shorten removed
		return
	}
	f.File = schema.Path(schema.Relative(string(f.File), d.dir))
	d.add(depth, before+f.String())
	if f.Text != "" {
		first, rest, more := strings.Cut(strings.ReplaceAll(f.Text, "\t", " "), "\n")
		d.add(depth+1, first)
		if f.Column > 0 {
			d.add(depth+1, strings.Repeat(" ", min(f.Column-1, len(first)))+"^")
		}
		if more {
			d.add(depth+1, rest)
		}
	}
	switch {
	case f.Cycle > 1:
		d.add(depth, fmt.Sprintf("[Previous %d lines repeated %d more times]", f.Cycle, f.Repeated))
	case f.Repeated > 0:
		d.add(depth, fmt.Sprintf("[Previous line repeated %d more times]", f.Repeated))
	}
}

// shorten removes the middle of a long traceback. The worker may already have removed frames.
func shorten(frames []Frame) []Frame {
	if len(frames) <= firstFrames+lastFrames+1 {
		return frames
	}
	return slices.Concat(frames[:firstFrames], []Frame{{Text: "… frames left out"}}, frames[len(frames)-lastFrames:])
}

// FoldFrames folds frames that repeat, as in a recursion. The worker has the same rule.
func FoldFrames(frames []Frame) (kept []Frame) {
	seen := map[Frame]int{} // the last index of a frame
	for i := 0; i < len(frames); {
		size, more := 0, 0
		if last, ok := seen[frames[i]]; ok {
			size = i - last
		}
		for rest := frames[i:]; size > 0 && size <= longestCycle && len(rest) >= size && slices.Equal(rest[:size], frames[i-size:i]); rest = rest[size:] {
			more++
		}
		if more < minRepeats {
			kept, seen[frames[i]] = append(kept, frames[i]), i
			i++
			continue
		}
		last := &kept[len(kept)-1]
		if last.Repeated = more; size > 1 {
			last.Cycle = size
		}
		i += more * size
		clear(seen)
	}
	return kept
}
