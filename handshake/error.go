package handshake

import (
	"fmt"
	"strconv"
	"strings"
)

// Error is a fault in a handshake line.
type Error struct {
	// Field is the number of the field, from 1. 0 is the whole line.
	Field int
	// Name is the field's name, such as "address"; empty for the whole line.
	Name string
	// Seen is the field's text, empty if it is missing. For the whole line it is a
	// phrase such as "has 2 fields". Wanted is a phrase, too.
	Seen, Wanted string
	// Line is the line without surrounding blanks. Line[Start:End] is the fault; if
	// the field is missing, both are where it should begin.
	Line       string
	Start, End int

	// Unasked reports whether the fault is a certificate that was not requested.
	Unasked bool
}

const (
	maxShown   = 60  // bytes of a field in a message
	maxDrawing = 100 // columns of a drawing
)

// Error names the field, what the plugin printed and what was expected.
func (e *Error) Error() string {
	if e.Field == 0 {
		return fmt.Sprintf("the line %s, want %s", e.Seen, e.Wanted)
	}
	seen := strconv.Quote(e.Seen)
	switch {
	case e.Seen == "":
		seen = "missing"
	case isNumber(e.Seen):
		seen = e.Seen
	case len(e.Seen) > maxShown && e.Field == fieldCert:
		seen = fmt.Sprintf("%d characters", len(e.Seen))
	case len(e.Seen) > maxShown:
		seen = strconv.Quote(strings.ToValidUTF8(e.Seen[:maxShown], "")) + "..."
	}
	return fmt.Sprintf("field %d (%s) is %s, want %s", e.Field, e.Name, seen, e.Wanted)
}

// Drawing returns the line, and a line with carets under the fault. It escapes characters
// that do not print and cuts long texts, so that both lines are ASCII and 100 columns wide at
// most. It returns nil for an empty line, and if the fault is further behind.
func (e *Error) Drawing() []string {
	if e.Line == "" {
		return nil
	}
	before, fault := escape(e.Line[:e.Start]), escape(e.Line[e.Start:e.End])
	line := before + fault + escape(e.Line[e.End:])
	room := maxDrawing - len(before)
	if room <= 0 {
		return nil
	}
	return []string{
		line[:min(len(line), maxDrawing)],
		strings.Repeat(" ", len(before)) + strings.Repeat("^", min(max(1, len(fault)), room)),
	}
}

var unquote = strings.NewReplacer(`\\`, `\`, `\"`, `"`)

// escape replaces characters that are not printable ASCII with Go escapes.
func escape(s string) string {
	quoted := strconv.QuoteToASCII(s)
	return unquote.Replace(quoted[1 : len(quoted)-1])
}

// fieldError reports a fault in one field.
func (l Line) fieldError(field int, wanted string) *Error {
	e := &Error{
		Field: field, Name: fieldNames[field-1], Wanted: wanted,
		Line: l.text, Start: len(l.text), End: len(l.text),
	}
	if fields := strings.Split(l.text, "|"); field <= len(fields) {
		e.Seen = fields[field-1]
		e.End = len(strings.Join(fields[:field], "|"))
		e.Start = e.End - len(e.Seen)
	}
	return e
}
