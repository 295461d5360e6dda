package ui

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// ciCommand is what CI systems take for a command anywhere in a line: GitHub's and
// Azure's "##[…]" and "##vso[…]", TeamCity's "##teamcity[…]".
var ciCommand = regexp.MustCompile(`##([A-Za-z]*\[)`)

// acts reports whether a character is not shown, but changes how others are: a control
// character other than tab and newline, a bidirectional control, or a separator of lines.
// Escape sequences can rewrite the screen, set the clipboard, or hide what was printed.
func acts(r rune) bool {
	if r < utf8.RuneSelf {
		return r < ' ' && r != '\t' && r != '\n' || r == 0x7f
	}
	return unicode.In(r, unicode.Cc, unicode.Zl, unicode.Zp, unicode.Bidi_Control)
}

// visible makes lines harmless for terminals, logs and files. What acts becomes visible,
// and so does every byte that is not UTF-8. A backslash breaks what a CI system would take
// for a command, also GitHub's "::…" at the start of a line.
func visible(text string) string {
	var b strings.Builder
	b.Grow(len(text))
	for line := range strings.Lines(text) {
		line, newline := strings.CutSuffix(line, "\n")
		line = visibleLine(strings.TrimSuffix(line, "\r"))
		if rest := strings.TrimLeftFunc(line, unicode.IsSpace); strings.HasPrefix(rest, "::") {
			line = line[:len(line)-len(rest)] + `:\:` + rest[2:]
		}
		b.WriteString(line)
		if newline {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

func visibleLine(line string) string {
	if !utf8.ValidString(line) || strings.ContainsFunc(line, acts) {
		var b strings.Builder
		for i, r := range line {
			switch {
			case r == utf8.RuneError && !strings.HasPrefix(line[i:], string(r)):
				fmt.Fprintf(&b, `\x%02x`, line[i])
			case r < utf8.RuneSelf && acts(r):
				fmt.Fprintf(&b, `\x%02x`, r)
			case acts(r):
				fmt.Fprintf(&b, `\u%04x`, r) // a byte is \x80, a character \u0080
			default:
				b.WriteRune(r)
			}
		}
		line = b.String()
	}
	if strings.Contains(line, "##") {
		line = ciCommand.ReplaceAllString(line, `#\#$1`)
	}
	return line
}

// visibleJSON makes JSON harmless without changing what it says. What acts, or is not
// UTF-8, occurs only inside strings; JSON itself escapes everything below the blank.
func visibleJSON(value []byte) []byte {
	b := make([]byte, 0, len(value))
	for _, r := range string(value) {
		if r > ' ' && acts(r) || r == utf8.RuneError || firstMark <= r && r <= endMark {
			b = fmt.Appendf(b, `\u%04x`, r)
		} else {
			b = utf8.AppendRune(b, r)
		}
	}
	if bytes.Contains(b, []byte("##")) {
		b = ciCommand.ReplaceAll(b, []byte(`\u0023#$1`))
	}
	return b
}

// oneLine is a text on one line: newlines and tabs become blanks.
func oneLine(text string) string {
	return strings.NewReplacer("\n", " ", "\t", " ").Replace(text)
}

// paragraph is a text of several lines. All but the first are indented.
func paragraph(text, indent string) string {
	lines := strings.Split(strings.TrimRight(text, "\r\n"), "\n")
	for i, line := range lines[1:] {
		lines[i+1] = strings.TrimRight(indent+line, " \r")
	}
	return strings.Join(lines, "\n")
}
