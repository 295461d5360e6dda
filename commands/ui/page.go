package ui

import (
	"regexp"
	"strings"
	"sync"

	"github.com/mattn/go-runewidth"
)

// Page prepares a page in Markdown: headings are set off, and paragraphs and the cells of tables
// wrap at HelpWidth. Examples stay as they are.
func Page(page string) string {
	var b strings.Builder
	var block []string // the lines of one paragraph, item or table
	flush := func() {
		b.WriteString(pageBlock(block))
		block = nil
	}
	fenced := false
	for line := range strings.Lines(page) {
		text := strings.TrimSuffix(line, "\n")
		switch isFence := strings.HasPrefix(strings.TrimSpace(text), "```"); {
		case isFence, fenced, text == "":
			flush()
			fenced = fenced != isFence
			b.WriteString(text + "\n")
		case strings.HasPrefix(text, "#"):
			flush()
			b.WriteString(Paint(Bold, text) + "\n")
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
	text := strings.Join(lines, " ")
	return mark + strings.Join(fold(text, 0, HelpWidth-len(mark)), "\n"+strings.Repeat(" ", len(mark))) + "\n"
}

// pageTable lays a table out in columns. The widest become narrower until the table fits; a
// column is as wide as its longest word.
func pageTable(lines []string) string {
	var rows [][]string
	for _, line := range lines {
		cells := strings.Split(strings.ReplaceAll(strings.Trim(line, "| "), `\|`, "\x00"), "|")
		for i, cell := range cells {
			cells[i] = strings.ReplaceAll(strings.TrimSpace(cell), "\x00", "|")
		}
		if strings.Trim(line, "|-: ") != "" {
			rows = append(rows, cells)
		}
	}
	widths := pageWidths(rows)
	var b strings.Builder
	for _, row := range rows {
		var folded [][]string
		height := 0
		for i, cell := range row {
			folded = append(folded, fold(cell, 0, widths[i]))
			height = max(height, len(folded[i]))
		}
		for n := range height {
			line := ""
			for i, cell := range folded {
				text := ""
				if n < len(cell) {
					text = cell[n]
				}
				line += runewidth.FillRight(text, widths[i]) + "  "
			}
			b.WriteString(strings.TrimRight(line, " ") + "\n")
		}
	}
	return b.String()
}

// pageWidths returns the widths of the columns of a table.
func pageWidths(rows [][]string) []int {
	var widths, least []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths, least = append(widths, 0), append(least, 0)
			}
			widths[i] = max(widths[i], runewidth.StringWidth(cell))
			for _, word := range fold(cell, 0, 1) {
				least[i] = max(least[i], runewidth.StringWidth(word))
			}
		}
	}
	for {
		total, widest := 2*(len(widths)-1), -1
		for i, width := range widths {
			total += width
			if width > least[i] && (widest < 0 || width > widths[widest]) {
				widest = i
			}
		}
		if total <= HelpWidth || widest < 0 {
			return widths
		}
		widths[widest]--
	}
}
