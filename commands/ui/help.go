package ui

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// HelpWidth is how wide the texts of the help are.
const HelpWidth = 80

// WriteTitle writes a heading.
func WriteTitle(b *strings.Builder, title string) {
	b.WriteString("\n" + Paint(Bold, title+":") + "\n")
}

// WriteEntry writes a name and what it means, from a column on. A name that is too long
// has a line of its own.
func WriteEntry(b *strings.Builder, name, meaning string, column int) {
	lines := Wrap(meaning, HelpWidth-column)
	if len(name)+2 > column {
		fmt.Fprintln(b, name)
		name = ""
	}
	for _, line := range lines {
		fmt.Fprintf(b, "%-*s%s\n", column, name, line)
		name = ""
	}
}

// Wrap breaks a text between words.
func Wrap(text string, width int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && utf8.RuneCountInString(line+" "+word) > width {
			lines, line = append(lines, line), ""
		}
		line = strings.TrimPrefix(line+" "+word, " ")
	}
	return append(lines, line)
}
