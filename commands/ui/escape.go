package ui

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"
)

// escaping says how text that pyplug did not write is made harmless.
type escaping uint8

const (
	// verbatim leaves it as it is, for JSON, which has escapes of its own.
	verbatim escaping = iota
	// guarded is for a log that a CI system may read. Control characters stay, except
	// the carriage return, at which CI systems end a line. A backslash breaks what they
	// take for a command: GitHub's and Azure's "##[…]", "##vso[…]" and TeamCity's
	// "##teamcity[…]" anywhere in a line, and GitHub's "::…" at the start of one, behind
	// blanks, too.
	guarded
	// visible is for terminals and for XML. Every control character except the tab
	// becomes visible, and so does every byte that is not UTF-8: escape sequences can
	// rewrite the screen, set the clipboard, or hide what was printed.
	visible
)

// ciCommand is what CI systems take for a command anywhere in a line.
var ciCommand = regexp.MustCompile(`##([A-Za-z]*\[)`)

// escape escapes one line, or a part of one. first says that nothing but blanks stands
// before it.
func (e escaping) escape(line string, first bool) string {
	switch e {
	case verbatim:
		return line
	case visible:
		return makeVisible(line)
	}
	if rest := strings.TrimLeft(line, " \t\v\f\u00a0"); first && strings.HasPrefix(rest, "::") {
		line = line[:len(line)-len(rest)] + `:\:` + rest[2:]
	}
	if strings.Contains(line, "##") {
		line = ciCommand.ReplaceAllString(line, `#\#$1`)
	}
	return strings.ReplaceAll(line, "\r", `\r`)
}

// makeVisible escapes control characters and bytes that are not UTF-8.
func makeVisible(line string) string {
	var b strings.Builder
	for i, r := range line {
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(line[i:], string(r)):
			fmt.Fprintf(&b, `\x%02x`, line[i])
		case r == '\r':
			b.WriteString(`\r`)
		case r < ' ' && r != '\t', r == 0x7f:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r >= 0x80 && r < 0xa0:
			fmt.Fprintf(&b, `\u%04x`, r) // a byte is \x80, a character \u0080
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// line escapes a whole line. Newlines in it become blanks.
func (e escaping) line(text string) string {
	return e.escape(strings.ReplaceAll(text, "\n", " "), true)
}

// part is line for what stands behind other text.
func (e escaping) part(text string) string {
	return e.escape(strings.ReplaceAll(text, "\n", " "), false)
}

// text escapes a text of several lines, and indents all but the first.
func (e escaping) text(text, indent string) string {
	lines := strings.Split(strings.TrimRight(text, "\r\n"), "\n")
	for i, line := range lines {
		lines[i] = e.escape(strings.TrimSuffix(line, "\r"), true)
		if i > 0 {
			lines[i] = strings.TrimRight(indent+lines[i], " ")
		}
	}
	return strings.Join(lines, "\n")
}

// forFile escapes a text of several lines for a file.
func forFile(text string) string { return visible.text(text, "") }

// guardJSON breaks what CI systems take for a command, without changing what the JSON
// means. In JSON a number sign occurs only inside a string.
func guardJSON(text []byte) []byte {
	if !bytes.Contains(text, []byte("##")) {
		return text
	}
	return ciCommand.ReplaceAll(text, []byte(`\u0023#$1`))
}

// visibleJSON escapes what a terminal would act on. JSON itself escapes everything below
// the blank; what remains is DEL, the C1 controls, and bytes that are not UTF-8. They
// occur only inside strings.
func visibleJSON(value []byte) []byte {
	b := make([]byte, 0, len(value))
	for _, r := range string(value) {
		if r >= 0x7f && r < 0xa0 || r == utf8.RuneError {
			b = fmt.Appendf(b, `\u%04x`, r)
		} else {
			b = utf8.AppendRune(b, r)
		}
	}
	return b
}
