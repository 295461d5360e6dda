package ui

import (
	"strings"

	"github.com/mattn/go-runewidth"
)

// textCells is how many cells a text takes.
func textCells(text string) int { return runewidth.StringWidth(text) }

// fit shortens a text and its tail to a number of cells. It keeps the tail if that
// leaves some of the text.
func fit(text, tail string, room int) string {
	const least = 4
	if textCells(text)+textCells(tail) <= room {
		return text + tail
	}
	if left := room - textCells(tail); left >= least {
		return runewidth.Truncate(text, left, "…") + tail
	}
	if room < 2 {
		return ""
	}
	return runewidth.Truncate(text+tail, room, "…")
}

// wrap joins pieces to lines of at most room cells, and breaks between pieces alone.
// The first line begins with first, the others with rest.
func wrap(pieces []string, first, rest string, room int) string {
	var b strings.Builder
	row := first
	for i, piece := range pieces {
		if i > 0 && textCells(row)+textCells(strings.TrimRight(piece, " ")) > room {
			b.WriteString(strings.TrimRight(row, " ") + "\n")
			row, piece = rest, strings.TrimLeft(piece, " ")
		}
		row += piece
	}
	return b.String() + strings.TrimRight(row, " ")
}
