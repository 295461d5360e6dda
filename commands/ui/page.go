package ui

import (
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/mattn/go-runewidth"
)

// Page formats a page in Markdown for the terminal: headings are set off, examples are indented,
// links become text, and paragraphs and the rows of tables wrap at HelpWidth.
func Page(page string) string {
	var b strings.Builder
	var block []string // the lines of the current paragraph, item or table
	flush := func() {
		b.WriteString(pageBlock(block))
		block = nil
	}
	fenced := false
	for line := range strings.Lines(page) {
		text := strings.TrimSuffix(line, "\n")
		switch isFence := strings.HasPrefix(strings.TrimSpace(text), "```"); {
		case isFence:
			flush()
			fenced = !fenced
		case text == "":
			flush()
			b.WriteString("\n")
		case fenced:
			b.WriteString("  " + text + "\n")
		case strings.HasPrefix(text, "#"):
			flush()
			b.WriteString(Paint(Bold, plain(strings.TrimLeft(text, "# "))) + "\n")
		case itemMark().MatchString(text):
			flush()
			fallthrough
		default:
			block = append(block, text)
		}
	}
	flush()
	return b.String()
}

// link matches a link: its text and its target.
var link = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\[([^\[\]]+)\]\(([^()\s]+)\)`) })

// plain returns a text without the marks of Markdown. A link whose text is the name of a page
// becomes the command that prints the page. A link to a website keeps its address.
func plain(text string) string {
	text = link().ReplaceAllStringFunc(text, func(whole string) string {
		parts := link().FindStringSubmatch(whole)
		switch name, isPage := strings.CutSuffix(parts[1], ".md"); {
		case isPage:
			return "`pyplug help " + name + "`"
		case strings.HasPrefix(parts[2], "http"):
			return parts[1] + " (" + parts[2] + ")"
		}
		return parts[1]
	})
	return strings.ReplaceAll(text, "**", "")
}

// itemMark matches the start of an item of a list.
var itemMark = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^ *(?:[-*]|\d+\.) +`) })

// pageBlock wraps a paragraph, an item of a list, or a table.
func pageBlock(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	if strings.HasPrefix(lines[0], "|") {
		return pageTable(lines)
	}
	mark := itemMark().FindString(lines[0])
	lines[0] = lines[0][len(mark):]
	for i, line := range lines {
		lines[i] = strings.TrimSpace(line)
	}
	text := plain(strings.Join(lines, " "))
	return mark + strings.Join(fold(text, 0, HelpWidth-len(mark)), "\n"+strings.Repeat(" ", len(mark))) + "\n"
}

// pageTable formats a table as entries: the first cell of each row, and the other cells in a second
// column.
func pageTable(lines []string) string {
	const widest = 26
	var rows [][]string
	column := 0
	for _, line := range lines {
		cells := strings.Split(strings.ReplaceAll(strings.Trim(line, "| "), `\|`, "\x00"), "|")
		for i, cell := range cells {
			cells[i] = plain(strings.ReplaceAll(strings.TrimSpace(cell), "\x00", "|"))
		}
		if strings.Trim(line, "|-: ") == "" {
			continue
		}
		rows = append(rows, cells)
		if cells := runewidth.StringWidth(cells[0]); cells <= widest {
			column = max(column, cells+2)
		}
	}
	var b strings.Builder
	for _, cells := range rows {
		WriteEntry(&b, cells[0], strings.Join(cells[1:], " · "), column)
	}
	return b.String()
}

// HelpWidth is the width of the texts of the help.
const HelpWidth = 80

// WriteTitle writes a heading.
func WriteTitle(b *strings.Builder, title string) {
	b.WriteString("\n" + Paint(Bold, title+":") + "\n")
}

// WriteEntry writes a name and its meaning, which begins at a column. A name that is too long gets
// its own line.
func WriteEntry(b *strings.Builder, name, meaning string, column int) {
	writeEntry(b, name, meaning, column, HelpWidth)
}

// writeEntry is WriteEntry for lines of at most width cells. If width is 0, there is no limit, and
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
