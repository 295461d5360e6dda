package ui

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
)

// The columns of a stage's line.
const (
	verdictCells = len("failure")
	stageCells   = len("interpreter")
	// findingColumn is where a stage's findings begin, messageColumn where its
	// message does.
	findingColumn = 2 + verdictCells + 2
	messageColumn = findingColumn + stageCells + 2
	// leastWrap is how narrow a column may be for pyplug to break its lines. In a
	// narrower one the terminal breaks them.
	leastWrap = 30
)

// verdictColors are the colours of verdicts. A skipped stage stays plain.
var verdictColors = map[hook.Verdict]Color{
	hook.OK: Green, hook.Note: Cyan, hook.Warning: Yellow, hook.Failure: Red,
}

// stage is the line of a stage, with its findings below:
//
//	warning  services     no controller is served  [no-controller]  12 ms
//	         fix: serve plugin.GRPCController
//	         note: no reflection  [no-reflection]
//	           fix: enable it
//
// A finding whose message is the stage's has no line of its own.
func (p *CheckPrinter) stage(st hook.Stage) string {
	out := p.s.out()
	word, name := st.Verdict.String(), out.part(st.Name)
	label := "  " + out.paint(verdictColors[st.Verdict], word) + strings.Repeat(" ", max(0, verdictCells-len(word))+2) +
		name + strings.Repeat(" ", max(0, stageCells-textCells(name))+2)
	own := ownFinding(st)
	var tail []string
	if own >= 0 {
		tail = idTail(st.Findings[own])
	}
	if st.Took >= time.Millisecond {
		tail = append(tail, "  "+span(st.Took))
	}
	var b strings.Builder
	p.labelled(&b, label, messageColumn, st.Message, tail)
	if own >= 0 {
		p.details(&b, st.Findings[own], findingColumn)
	}
	for i, f := range st.Findings {
		if i == own {
			continue
		}
		word := f.Verdict.String() + ":"
		label := strings.Repeat(" ", findingColumn) + out.paint(verdictColors[f.Verdict], word) + " "
		p.labelled(&b, label, findingColumn+len(word)+1, f.Message, idTail(f))
		p.details(&b, f, findingColumn+2)
	}
	return b.String()
}

// ownFinding is the index of the finding whose message is the stage's, the worst of
// several; -1 for none.
func ownFinding(st hook.Stage) int {
	own := -1
	for i, f := range st.Findings {
		if f.Message == st.Message && (own < 0 || f.Verdict > st.Findings[own].Verdict) {
			own = i
		}
	}
	return own
}

// idTail is a finding's name, if it has one, as it stands behind the message.
func idTail(f hook.Finding) []string {
	if f.ID == "" {
		return nil
	}
	return []string{"  [" + f.ID + "]"}
}

// details adds what a finding knows besides its message, then the fixes.
func (p *CheckPrinter) details(b *strings.Builder, f hook.Finding, column int) {
	const inside = 2 // what errorLines indent by themselves
	details := newErrorLines(p.s.out(), p.s.cwd(), column-inside)
	details.finding(f, p.Shown && f.Printed)
	for _, line := range details.lines {
		b.WriteString(strings.TrimRight(strings.Repeat(" ", column-inside)+line, " ") + "\n")
	}
	for _, fix := range f.Fix {
		label := strings.Repeat(" ", column) + "fix: "
		p.labelled(b, label, len(label), fix, nil)
	}
}

// labelled adds a text behind a label, and after it the pieces of its tail. The label
// takes that many cells, and so does the indentation of all other lines. On a terminal
// that is wide enough it breaks lines between words.
func (p *CheckPrinter) labelled(b *strings.Builder, label string, cells int, text string, tail []string) {
	out, indent := p.s.out(), strings.Repeat(" ", cells)
	room := out.columns()
	if room < cells+leastWrap {
		room = math.MaxInt
	}
	lines := strings.Split(strings.TrimRight(text, "\r\n"), "\n")
	for i, line := range lines {
		pieces := strings.SplitAfter(out.escape(strings.TrimSuffix(line, "\r"), i > 0), " ")
		if i == len(lines)-1 {
			pieces = append(pieces, tail...)
		}
		line = wrap(pieces, indent, indent, room)
		if i == 0 {
			line = strings.TrimRight(label+strings.TrimPrefix(line, indent), " ")
		}
		b.WriteString(line + "\n")
	}
}

// finding adds what a finding knows and its message does not say: its place, and its
// error as a failure shows it.
func (l *errorLines) finding(f hook.Finding, shown bool) {
	if f.File != "" && !inFrames(f) {
		where := relative(l.cwd, f.File)
		if f.Line > 0 {
			where = fmt.Sprintf("%s:%d", where, f.Line)
		}
		if !strings.Contains(f.Message, where) {
			l.add(0, where)
		}
	}
	if f.Err == nil {
		return
	}
	headline := f.Message
	if cause := f.Err.Err; cause != nil && !strings.Contains(headline, cause.Error()) {
		l.add(0, cause.Error())
		headline += "\n" + cause.Error()
	}
	l.cause(f.Err, headline, shown)
}

// inFrames reports whether the finding's error names its place.
func inFrames(f hook.Finding) bool {
	if f.Err == nil {
		return false
	}
	frames := f.Err.At
	if f.Err.Python != nil {
		frames = slices.Concat(frames, f.Err.Python.Frames)
	}
	return slices.ContainsFunc(frames, func(at hook.Frame) bool { return at.File == f.File && at.Line == f.Line })
}
