package ui

import (
	"fmt"
	"strings"

	"github.com/mattn/go-runewidth"
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
	writeEntry(b, name, meaning, column, HelpWidth)
}

// writeEntry is WriteEntry for lines of at most width cells. With a width of 0, which is no limit,
// every entry is one line.
func writeEntry(b *strings.Builder, name, meaning string, column, width int) {
	if width > 0 && runewidth.StringWidth(name)+2 > column {
		fmt.Fprintln(b, folded(name, "    ", 0, width))
		name = ""
	}
	if name+meaning == "" {
		return
	}
	line := runewidth.FillRight(name, column-2) + "  " + folded(meaning, strings.Repeat(" ", column), column, width)
	fmt.Fprintln(b, strings.TrimRight(line, " "))
}
