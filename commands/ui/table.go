package ui

import "strings"

// cell is one text of a table.
type cell struct {
	text  string
	right bool  // aligned to the right, as numbers are
	color Color // NoColor: plain
}

// table lays rows out in columns, two blanks apart, and returns a line for each.
func (t target) table(rows [][]cell) []string {
	widths := columnWidths(rows)
	lines := make([]string, len(rows))
	for r, row := range rows {
		var line strings.Builder
		for i, c := range row {
			if i > 0 {
				line.WriteString("  ")
			}
			gap, text := strings.Repeat(" ", widths[i]-textCells(c.text)), t.paint(c.color, c.text)
			if c.right {
				line.WriteString(gap + text)
			} else {
				line.WriteString(text + gap)
			}
		}
		lines[r] = strings.TrimRight(line.String(), " ")
	}
	return lines
}

// columnWidths is how many cells each column takes.
func columnWidths(rows [][]cell) []int {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, c := range row {
			widths[i] = max(widths[i], textCells(c.text))
		}
	}
	return widths
}
