package pysrc

import (
	"strings"
)

// docStart matches the start of a module up to the quotes of its docstring.
var docStart = Expression(`\A(?:[ \t]*(?:#[^\n]*)?\r?\n)*[rRuU]?("""|\x27\x27\x27|"|\x27)`)

// Docstring returns the docstring of a module without its common indentation, or "" if the module
// has none. It does not decode escapes.
func Docstring(text string) string {
	found := docStart().FindStringSubmatchIndex(text)
	if found == nil {
		return ""
	}
	quotes, rest := text[found[2]:found[3]], text[found[1]:]
	doc, _, ended := strings.Cut(rest, quotes)
	if !ended || len(quotes) == 1 && strings.Contains(doc, "\n") {
		return ""
	}
	lines := strings.Split(strings.ReplaceAll(doc, "\r\n", "\n"), "\n")
	indent := -1
	for _, line := range lines[1:] {
		if blank := len(line) - len(strings.TrimLeft(line, " \t")); blank < len(line) && (indent < 0 || blank < indent) {
			indent = blank
		}
	}
	for i, line := range lines {
		if i == 0 {
			lines[i] = strings.TrimLeft(line, " \t")
		} else {
			lines[i] = line[min(max(indent, 0), len(line)):]
		}
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}
