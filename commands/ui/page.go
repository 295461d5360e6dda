package ui

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/pyplug/pyplug/runner/hook"
)

// page collects the lines of an error below its headline: escaped, indented.
type page struct {
	lines    []string
	relative func(path string) string
	// escape makes a line harmless, or a part of one; first tells that nothing
	// but blanks stands before it.
	escape func(text string, first bool) string
	// columns is the width of the terminal; 0 where there is none.
	columns int
}

// newPage returns a page for standard error.
func (s *Streams) newPage() *page {
	p := &page{relative: s.relative, escape: func(text string, first bool) string {
		return string(appendEscaped(nil, text, s.ErrTTY, first))
	}}
	if s.ErrTTY {
		p.columns = columns(s.Err)
	}
	return p
}

// cause adds all that an error knows and its headline does not say.
func (p *page) cause(e *hook.Error, headline string, shown bool) {
	var drawn interface{ Drawing() []string }
	if errors.As(e.Err, &drawn) && e.Drawing == nil { // until every error is made by hook.NewError
		p.drawing(drawn.Drawing())
	}
	p.drawing(e.Drawing)
	if e.Status != nil {
		p.status(e.Status, headline)
	}
	if e.Python != nil {
		if !strings.Contains(headline, e.Python.Headline()) {
			p.add(0, e.Python.Headline())
		}
		p.raised(0, e.Python)
	}
	for _, frame := range shorten(e.At) {
		p.frame(0, "was at ", frame)
	}
	if e.Exit != nil {
		p.exit(*e.Exit, shown)
	}
	for _, tried := range e.Tried {
		p.add(0, "tried: "+tried)
	}
}

// add adds a text at a depth of indentation, of which 0 is two blanks.
func (p *page) add(depth int, text string) {
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		p.put(depth, p.escape(strings.TrimRight(line, "\r"), true))
	}
}

// put adds a line that is escaped.
func (p *page) put(depth int, line string) {
	p.lines = append(p.lines, strings.TrimRight(strings.Repeat("  ", depth+1)+line, " "))
}

// drawing adds a line and the carets below it, and whatever else is drawn.
func (p *page) drawing(lines []string) {
	for i, text := range lines {
		carets := ""
		if i+1 < len(lines) {
			carets = lines[i+1]
		}
		switch {
		case isCarets(carets):
			p.point(0, text, min(strings.IndexByte(carets, '^'), len(text)), min(len(carets), len(text)))
		case !isCarets(text):
			p.add(0, text)
		}
	}
}

// isCarets tells whether a line is blanks and then carets.
func isCarets(line string) bool {
	return strings.HasSuffix(line, "^") && strings.Trim(strings.TrimLeft(line, " "), "^") == ""
}

// point adds one line of text and, below it, carets under text[start:end], at
// least one. Both lines are made of what escaping left, which may be longer.
func (p *page) point(depth int, text string, start, end int) {
	shown := p.escape(text, true)
	// What the rest becomes is the end of what the whole becomes.
	at := func(i int) int {
		return len(shown) - len(p.escape(text[i:], strings.TrimSpace(text[:i]) == ""))
	}
	from, to := at(start), max(at(end), at(start)+1)
	if from == len(shown) {
		shown += " "
	}
	p.marked(depth, shown, from, to)
}

// marked adds a line with carets under shown[from:to]. It is broken here where a
// terminal would wrap it, since that would wrap the carets by themselves.
func (p *page) marked(depth int, shown string, from, to int) {
	const tab, least = 8, 20
	room := max(least, p.columns-len("  ")*(depth+1)-1) // some terminals wrap at the last column
	var row, marks strings.Builder
	used := 0
	flush := func() {
		p.put(depth, row.String())
		if strings.Contains(marks.String(), "^") {
			p.put(depth, marks.String())
		}
		row.Reset()
		marks.Reset()
		used = 0
	}
	for i := 0; i < len(shown); {
		r, size := utf8.DecodeRuneInString(shown[i:])
		width, mark := cells(r), strings.Repeat(" ", cells(r))
		if r == '\t' {
			width, mark = tab, "\t" // so that it stays below, however wide it is
		}
		if from <= i && i < to {
			mark = strings.Repeat("^", cells(r))
		}
		if p.columns > 0 && used+width > room {
			flush()
		}
		row.WriteString(shown[i : i+size])
		if i < to {
			marks.WriteString(mark)
		}
		used += width
		i += size
	}
	flush()
}

// longestDetail is how many bytes of a detail are shown.
const longestDetail = 240

// status adds what a gRPC status says beside the headline: a line for each of
// its details.
func (p *page) status(status *hook.RPCStatus, headline string) {
	if !strings.Contains(headline, status.Code) {
		text := "status: " + status.Code
		if status.Message != "" {
			text += ": " + status.Message
		}
		p.add(0, text)
	}
	for _, detail := range status.Details {
		text := detailText(detail)
		if cut := len(text) - longestDetail; cut > 0 {
			text = strings.ToValidUTF8(text[:longestDetail], "") + " … (" + grouped(int64(cut)) + " bytes left out)"
		}
		p.add(0, text)
	}
}

// detailText is a detail as its type's name and its fields, such as
// `ErrorInfo: {"reason":"QUOTA"}`. Its JSON begins with "@type".
func detailText(detail json.RawMessage) string {
	var b bytes.Buffer
	if json.Compact(&b, detail) != nil {
		return string(detail)
	}
	inner, typed := strings.CutPrefix(b.String(), `{"@type":"`)
	url, fields, _ := strings.Cut(inner, `"`)
	if !typed {
		return b.String()
	}
	name, fields := url[strings.LastIndexAny(url, "/.")+1:], strings.TrimPrefix(fields, ",")
	if fields == "}" {
		return name
	}
	return name + ": {" + fields
}

// exit adds how a process ended, where it hung, and what it said last, unless
// that was shown.
func (p *page) exit(e hook.Exit, shown bool) {
	how := fmt.Sprintf("ended with exit code %d", e.Code)
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
	p.add(0, how)
	if len(e.Stacks) > 0 {
		p.add(0, "it was hanging here:")
		p.add(1, strings.Join(e.Stacks, "\n"))
	}
	if len(e.Stderr) > 0 && !shown {
		p.add(0, "last lines of its standard error:")
		p.add(1, strings.Join(e.Stderr, "\n"))
	}
}
