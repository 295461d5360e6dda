package ui

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// ciCommand is what CI systems take for a command anywhere in a line: GitHub's and
// Azure's "##[…]" and "##vso[…]", TeamCity's "##teamcity[…]".
var ciCommand = regexp.MustCompile(`##([A-Za-z]*\[)`)

// visible makes a line, or a part of one, that pyplug did not write harmless for
// terminals, logs and files. Every control character except the tab becomes visible, and
// so does every byte that is not UTF-8: escape sequences can rewrite the screen, set the
// clipboard, or hide what was printed. A backslash breaks what a CI system would take for
// a command, also GitHub's "::…" at the start of a line.
func visible(line string) string {
	var b strings.Builder
	b.Grow(len(line))
	for i, r := range line {
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(line[i:], string(r)):
			fmt.Fprintf(&b, `\x%02x`, line[i])
		case r < ' ' && r != '\t', r == 0x7f:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r >= 0x80 && r < 0xa0:
			fmt.Fprintf(&b, `\u%04x`, r) // a byte is \x80, a character \u0080
		default:
			b.WriteRune(r)
		}
	}
	line = b.String()
	if strings.Contains(line, "##") {
		line = ciCommand.ReplaceAllString(line, `#\#$1`)
	}
	if rest := strings.TrimLeftFunc(line, unicode.IsSpace); strings.HasPrefix(rest, "::") {
		line = line[:len(line)-len(rest)] + `:\:` + rest[2:]
	}
	return line
}

// oneLine is a visible text on one line: newlines and tabs become blanks.
func oneLine(text string) string {
	return visible(strings.NewReplacer("\n", " ", "\t", " ").Replace(text))
}

// paragraph is a visible text of several lines. All but the first are indented.
func paragraph(text, indent string) string {
	lines := strings.Split(strings.TrimRight(text, "\r\n"), "\n")
	for i, line := range lines {
		lines[i] = visible(strings.TrimSuffix(line, "\r"))
		if i > 0 {
			lines[i] = strings.TrimRight(indent+lines[i], " ")
		}
	}
	return strings.Join(lines, "\n")
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
