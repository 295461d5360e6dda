package ui

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// appendEscaped appends one line of text that pyplug did not write, made harmless. This
// is the only place that says how:
//
//   - On a terminal every control character except the tab becomes visible, and so does
//     every byte that is not UTF-8: escape sequences can rewrite the screen, set the
//     clipboard, or hide what was printed.
//   - Elsewhere control characters stay, except the carriage return, at which CI systems
//     end a line.
//   - Elsewhere a backslash also breaks what CI systems take for a command: GitHub's and
//     Azure's "##[…]", "##vso[…]" and TeamCity's "##teamcity[…]" anywhere in a line, and
//     GitHub's "::…" at the start of one, behind blanks, too. Only a line without a
//     label can start so; first says that this text starts its line.
func appendEscaped(dst []byte, line string, terminal, first bool) []byte {
	if terminal {
		return appendVisible(dst, line)
	}
	if first {
		if rest := strings.TrimLeft(line, " \t\v\f\u00a0"); strings.HasPrefix(rest, "::") {
			dst = append(dst, line[:len(line)-len(rest)]...)
			dst = append(dst, `:\:`...)
			line = rest[2:]
		}
	}
	if strings.IndexByte(line, '\r') < 0 && !strings.Contains(line, "##") {
		return append(dst, line...) // nearly every line
	}
	for {
		i := strings.IndexAny(line, "\r#")
		if i < 0 {
			return append(dst, line...)
		}
		dst = append(dst, line[:i]...)
		switch {
		case line[i] == '\r':
			dst = append(dst, `\r`...)
			i++
		case isCommand(line[i:]):
			dst = append(dst, `#\#`...)
			i += 2
		default:
			dst = append(dst, '#')
			i++
		}
		line = line[i:]
	}
}

// isCommand reports whether s begins with two number signs, letters and a bracket.
func isCommand(s string) bool {
	s, found := strings.CutPrefix(s, "##")
	if !found {
		return false
	}
	i := 0
	for i < len(s) && (s[i]|0x20 >= 'a' && s[i]|0x20 <= 'z') {
		i++
	}
	return i < len(s) && s[i] == '['
}

// appendVisible escapes control characters and bytes that are not UTF-8.
func appendVisible(dst []byte, line string) []byte {
	start := 0
	for i := 0; i < len(line); {
		r, size := rune(line[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRuneInString(line[i:])
		}
		var shown string
		switch {
		case r == utf8.RuneError && size == 1:
			shown = fmt.Sprintf(`\x%02x`, line[i])
		case r == '\r':
			shown = `\r`
		case r < ' ' && r != '\t', r == 0x7f:
			shown = fmt.Sprintf(`\x%02x`, r)
		case r >= 0x80 && r < 0xa0:
			shown = fmt.Sprintf(`\u%04x`, r) // a byte is \x80, a character \u0080
		default:
			i += size
			continue
		}
		dst = append(append(dst, line[start:i]...), shown...)
		i += size
		start = i
	}
	return append(dst, line[start:]...)
}

// escapeLine escapes one whole line for standard error.
func (s *Streams) escapeLine(line string) string {
	return string(appendEscaped(nil, line, s.ErrTTY, true))
}

// escapeText escapes a text of several lines, and indents all but the first.
func (s *Streams) escapeText(text, indent string) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	for i, line := range lines {
		lines[i] = s.escapeLine(strings.TrimSuffix(line, "\r"))
		if i > 0 {
			lines[i] = strings.TrimRight(indent+lines[i], " ")
		}
	}
	return strings.Join(lines, "\n")
}

// guardJSON breaks what CI systems take for a command, without changing what the JSON
// means. In JSON a number sign occurs only inside a string.
func guardJSON(text []byte) []byte {
	var dst []byte
	start := 0
	for i := range text {
		if text[i] == '#' && isCommand(string(text[i:min(i+24, len(text))])) {
			dst = append(append(dst, text[start:i]...), `\u0023`...)
			start = i + 1
		}
	}
	if start == 0 {
		return text
	}
	return append(dst, text[start:]...)
}
