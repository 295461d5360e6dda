package ui

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// What CI systems take for commands: anywhere in a line, GitHub's and Azure's "##[…]" and
// "##vso[…]", TeamCity's "##teamcity[…]"; at the start of a line, behind any white space,
// GitHub's "::…".
var (
	ciCommand     = regexp.MustCompile(`##([A-Za-z]*\[)`)
	githubCommand = regexp.MustCompile(`(?m)^([\t\p{Zs}]*)::`)
)

// acts reports whether a character is not shown, but changes how others are: a control
// character other than tab and newline, a bidirectional control, or a separator of lines.
// Escape sequences can rewrite the screen, set the clipboard, or hide what was printed.
func acts(r rune) bool {
	return r != '\t' && r != '\n' && unicode.In(r, unicode.Cc, unicode.Zl, unicode.Zp, unicode.Bidi_Control)
}

// visible makes lines harmless for terminals, logs and files. What acts becomes visible,
// and so does every byte that is not UTF-8. A backslash breaks what a CI system would take
// for a command.
func visible(text string) string {
	if !isPrintable(text) {
		text = strings.ReplaceAll(text, "\r\n", "\n")
		var b strings.Builder
		for i, r := range text {
			switch {
			case acts(r) && r < utf8.RuneSelf, r == utf8.RuneError && !strings.HasPrefix(text[i:], string(r)):
				fmt.Fprintf(&b, `\x%02x`, text[i])
			case acts(r):
				fmt.Fprintf(&b, `\u%04x`, r) // a byte is \x80, a character \u0080
			default:
				b.WriteRune(r)
			}
		}
		text = b.String()
	}
	if strings.Contains(text, "##") {
		text = ciCommand.ReplaceAllString(text, `#\#$1`)
	}
	if strings.Contains(text, "::") {
		text = githubCommand.ReplaceAllString(text, `$1:\:`)
	}
	return text
}

// isPrintable reports whether a text is ASCII in which nothing acts. Most is, and a plugin
// may print gigabytes.
func isPrintable[Text string | []byte](text Text) bool {
	for i := range len(text) {
		if c := text[i]; c < ' ' && c != '\t' && c != '\n' || c >= 0x7f {
			return false
		}
	}
	return true
}

// visibleJSON makes JSON harmless without changing what it says. What acts, or is not
// UTF-8, occurs only inside strings; JSON itself escapes everything below the blank.
func visibleJSON(value []byte) []byte {
	if !isPrintable(value) {
		b := make([]byte, 0, len(value))
		for _, r := range string(value) {
			if r > ' ' && acts(r) || r == utf8.RuneError || firstMark <= r && r <= endMark {
				b = fmt.Appendf(b, `\u%04x`, r)
			} else {
				b = utf8.AppendRune(b, r)
			}
		}
		value = b
	}
	if bytes.Contains(value, []byte("##")) {
		value = ciCommand.ReplaceAll(value, []byte(`\u0023#$1`))
	}
	return value
}

// oneLine is a text on one line: newlines and tabs become blanks.
func oneLine(text string) string {
	return strings.NewReplacer("\n", " ", "\t", " ").Replace(text)
}

// pathLine is a text with paths on one line: newlines and tabs become visible.
func pathLine(text string) string {
	return strings.NewReplacer("\n", `\n`, "\t", `\t`).Replace(text)
}

// paragraph is a text of several lines. All but the first are indented.
func paragraph(text, indent string) string {
	lines := strings.Split(strings.TrimRight(text, "\r\n"), "\n")
	for i, line := range lines[1:] {
		lines[i+1] = strings.TrimRight(indent+line, " \r")
	}
	return strings.Join(lines, "\n")
}
