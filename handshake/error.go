package handshake

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Error is what is wrong with a line.
type Error struct {
	// Field is the number of the field, from 1; 0 is the whole line.
	Field int
	// Name is the field's name in [Fields]; "" for the whole line.
	Name string
	// Seen is the field, "" if it is missing or empty; of the whole line what is
	// or has, such as "has 2 fields". Wanted is a phrase.
	Seen, Wanted string
	// Line is the line without blanks around it, and Line[Start:End] what is
	// wrong; where the field is missing, both are where it should begin.
	Line       string
	Start, End int
}

// longest is how much of a field an error shows, widest how wide a drawing is.
const (
	longest = 60
	widest  = 100
)

// Error names the field, what was seen and what was wanted.
func (e *Error) Error() string {
	if e.Field == 0 {
		return fmt.Sprintf("the line %s, want %s", e.Seen, e.Wanted)
	}
	return fmt.Sprintf("field %d (%s) is %s, want %s", e.Field, e.Name, e.shown(), e.Wanted)
}

// shown is the field as the message has it: numbers bare, all else quoted, and
// what is long cut.
func (e *Error) shown() string {
	switch {
	case e.Seen == "":
		return "missing"
	case e.Field == fieldCert && len(e.Seen) > longest:
		return fmt.Sprintf("%d characters", len(e.Seen))
	case digits(e.Seen):
		return e.Seen
	case len(e.Seen) > longest:
		return strconv.Quote(cut(e.Seen, longest)) + "..."
	}
	return strconv.Quote(e.Seen)
}

// cut is at most n bytes of s, no character broken.
func cut(s string, n int) string {
	for n > 0 && n < len(s) && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:min(n, len(s))]
}

// fail is an error about a field.
func (l Line) fail(field int, wanted string) *Error {
	e := &Error{
		Field: field, Name: Fields[field-1].Name, Wanted: wanted,
		Line: l.text, Start: len(l.text), End: len(l.text),
	}
	if field <= len(l.spans) {
		e.Start, e.End = l.spans[field-1][0], l.spans[field-1][1]
		e.Seen = l.text[e.Start:e.End]
	}
	return e
}

// whole is an error about the whole line.
func (l Line) whole(seen, wanted string) *Error {
	return &Error{Seen: seen, Wanted: wanted, Line: l.text, End: len(l.text)}
}

// Drawing is the line and, under what is wrong with it, carets. What does not
// print is escaped, and what is long is shortened, so that both lines are ASCII
// and at most about 100 wide. There is nothing to draw of an empty line.
func (e *Error) Drawing() []string {
	if e.Line == "" {
		return nil
	}
	start := min(max(e.Start, 0), len(e.Line))
	end := min(max(e.End, start), len(e.Line))
	at := shorten(e.Line[start:end], widest/2, true)
	before := shorten(e.Line[:start], (widest-len(at))*2/3, false)
	after := shorten(e.Line[end:], widest-len(at)-len(before), true)
	return []string{
		before + at + after,
		strings.Repeat(" ", len(before)) + strings.Repeat("^", max(1, len(at))),
	}
}

// shorten escapes s and cuts it to about width, at its end or at its beginning.
func shorten(s string, width int, head bool) string {
	const dots = "..."
	whole := ascii(s, width+1, head)
	if len(whole) <= width {
		return whole
	}
	kept := ascii(s, max(0, width-len(dots)), head)
	if head {
		return kept + dots
	}
	return dots + kept
}

// ascii escapes as much of s, from its beginning or up to its end, as passes width
// by at most one character.
func ascii(s string, width int, head bool) string {
	if head {
		var b strings.Builder
		for len(s) > 0 && b.Len() < width {
			r, size := utf8.DecodeRuneInString(s)
			b.WriteString(escaped(r, s[:size]))
			s = s[size:]
		}
		return b.String()
	}
	whole := ""
	for len(s) > 0 && len(whole) < width {
		r, size := utf8.DecodeLastRuneInString(s)
		whole = escaped(r, s[len(s)-size:]) + whole
		s = s[:len(s)-size]
	}
	return whole
}

// escaped is one character, whose bytes are s.
func escaped(r rune, s string) string {
	if r >= ' ' && r <= '~' {
		return s
	}
	quoted := strconv.QuoteToASCII(s)
	return quoted[1 : len(quoted)-1]
}
