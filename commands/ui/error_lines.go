package ui

import (
	"bytes"
	"encoding/json"
	"math"
	"regexp"
	"strings"

	"github.com/mattn/go-runewidth"

	"github.com/pyplug/pyplug/runner/hook"
)

// errorLines collects the lines below an error's headline, escaped and indented.
type errorLines struct {
	escaping
	lines []string
	cwd   string // the directory to which paths are relative, if known
	room  int    // cells of a terminal's line; 0 if it is none
}

// newErrorLines returns errorLines that the caller will indent by so many cells more.
func newErrorLines(t target, cwd string, indent int) *errorLines {
	l := &errorLines{escaping: t.escaping, cwd: cwd}
	if t.terminal != nil {
		l.room = max(1, t.columns()-indent)
	}
	return l
}

// cause adds what an error knows and its headline does not say. shown says that
// standard error has what the plugin printed.
func (l *errorLines) cause(e *hook.Error, headline string, shown bool) {
	l.drawing(e.Drawing)
	if e.Status != nil {
		l.status(e.Status, headline)
	}
	if e.Python != nil {
		if !strings.Contains(headline, e.Python.Headline()) {
			l.add(0, e.Python.Headline())
		}
		l.raised(0, e.Python)
	}
	for _, frame := range shorten(e.At) {
		l.frame(0, "was at ", frame)
	}
	if e.Exit != nil {
		l.exit(*e.Exit, shown)
	}
	for _, tried := range e.Tried {
		l.add(0, "tried: "+tried)
	}
}

// add adds a text at a depth of indentation, of which 0 is two blanks.
func (l *errorLines) add(depth int, text string) {
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		l.put(depth, l.escape(strings.TrimRight(line, "\r"), true))
	}
}

// put adds a line that is escaped.
func (l *errorLines) put(depth int, line string) {
	l.lines = append(l.lines, strings.TrimRight(strings.Repeat("  ", depth+1)+line, " "))
}

// drawing adds a line and the carets below it, and whatever else is drawn.
func (l *errorLines) drawing(lines []string) {
	for i, text := range lines {
		carets := ""
		if i+1 < len(lines) {
			carets = lines[i+1]
		}
		switch {
		case isCarets(carets):
			l.point(0, text, min(strings.IndexByte(carets, '^'), len(text)), min(len(carets), len(text)))
		case !isCarets(text):
			l.add(0, text)
		}
	}
}

// isCarets reports whether a line is blanks and then carets.
func isCarets(line string) bool {
	return strings.HasSuffix(line, "^") && strings.Trim(strings.TrimLeft(line, " "), "^") == ""
}

// point adds one line of text and, below it, carets under text[start:end], at least
// one. Escaping may make the line longer.
func (l *errorLines) point(depth int, text string, start, end int) {
	shown := l.escape(text, true)
	// The escaped rest of the text is the end of the escaped text.
	at := func(i int) int {
		return len(shown) - len(l.escape(text[i:], strings.TrimSpace(text[:i]) == ""))
	}
	from, to := at(start), max(at(end), at(start)+1)
	if from == len(shown) {
		shown += " "
	}
	l.marked(depth, shown, from, to)
}

// marked adds a line with carets under shown[from:to]. It breaks both where the
// terminal would wrap them, one after the other.
func (l *errorLines) marked(depth int, shown string, from, to int) {
	const tab, least = 8, 20
	room := math.MaxInt
	if l.room > 0 {
		room = max(least, l.room-len("  ")*(depth+1)-1) // some terminals wrap at the last column
	}
	row, marks, used := "", "", 0
	flush := func() {
		l.put(depth, row)
		if strings.Contains(marks, "^") {
			l.put(depth, marks)
		}
		row, marks, used = "", "", 0
	}
	for i, r := range shown {
		width := runewidth.RuneWidth(r)
		mark := strings.Repeat(" ", width)
		switch {
		case r == '\t':
			width, mark = tab, "\t" // below the line's, however wide that is
		case from <= i && i < to:
			mark = strings.Repeat("^", width)
		case i >= to:
			mark = ""
		}
		if used+width > room {
			flush()
		}
		row, marks, used = row+string(r), marks+mark, used+width
	}
	flush()
}

// longestDetail is how many bytes of a detail are shown.
const longestDetail = 240

// status adds a gRPC status: its code if the headline lacks it, and a line for each of
// its details.
func (l *errorLines) status(status *hook.RPCStatus, headline string) {
	if !strings.Contains(headline, status.Code) {
		text := "status: " + status.Code
		if status.Message != "" {
			text += ": " + status.Message
		}
		l.add(0, text)
	}
	for _, detail := range status.Details {
		text := detailText(detail)
		if cut := len(text) - longestDetail; cut > 0 {
			text = strings.ToValidUTF8(text[:longestDetail], "") + " … (" + grouped(int64(cut)) + " bytes left out)"
		}
		l.add(0, text)
	}
}

var (
	detailType = regexp.MustCompile(`^\{"@type":"(?:[^"]*[/.])?([^"/.]*)",?`)
	noFields   = regexp.MustCompile(`: \{\}$`)
)

// detailText is a detail as its type's name and its fields, such as
// `ErrorInfo: {"reason":"QUOTA"}`. Its JSON begins with "@type".
func detailText(detail json.RawMessage) string {
	var b bytes.Buffer
	if json.Compact(&b, detail) != nil {
		return string(detail)
	}
	return noFields.ReplaceAllString(detailType.ReplaceAllString(b.String(), "$1: {"), "")
}

// exit adds how a process ended, where it hung, and the last lines it printed, unless
// they were shown.
func (l *errorLines) exit(e hook.Exit, shown bool) {
	how := "ended with " + e.String()
	if e.Signal != "" {
		how = "ended by " + e.Signal
	}
	how += " after " + span(e.Uptime)
	switch {
	case e.Limit != "":
		how += ", over its " + e.Limit
	case e.OutOfMemory:
		how += ", probably out of memory"
	}
	l.add(0, how)
	if len(e.Stacks) > 0 {
		l.add(0, "it was hanging here:")
		l.add(1, strings.Join(e.Stacks, "\n"))
	}
	if len(e.Stderr) > 0 && !shown {
		l.add(0, "last lines of its output:")
		l.add(1, strings.Join(e.Stderr, "\n"))
	}
}
