package ui

import (
	"io"
	"os"
	"strings"
	"unicode/utf8"
)

// fallbackColumns is the width of a terminal that does not tell.
const fallbackColumns = 80

// columns is how many cells a line of the terminal behind w has now.
func columns(w io.Writer) int {
	if sized, ok := w.(interface{ columns() int }); ok {
		return sized.columns() // a test's
	}
	if file, ok := w.(*os.File); ok {
		if n := terminalColumns(file.Fd()); n > 0 {
			return n
		}
	}
	return fallbackColumns
}

// wide are the ranges of characters that take two cells of a terminal: East
// Asian wide and fullwidth ones, and emoji. It is coarse on the side of two,
// since a line that is too short harms nobody; for the same reason combining
// characters count as one.
var wide = [...][2]rune{
	{0x1100, 0x115f}, {0x231a, 0x231b}, {0x2329, 0x232a}, {0x23e9, 0x23f3}, {0x25fd, 0x25fe},
	{0x2600, 0x27bf}, {0x2b1b, 0x2b1c}, {0x2b50, 0x2b55}, {0x2e80, 0xa4cf}, {0xa960, 0xa97f},
	{0xac00, 0xd7a3}, {0xf900, 0xfaff}, {0xfe10, 0xfe19}, {0xfe30, 0xfe6f}, {0xff01, 0xff60},
	{0xffe0, 0xffe6}, {0x16fe0, 0x18dff}, {0x1aff0, 0x1b2ff}, {0x1d300, 0x1d37f}, {0x1f000, 0x1faff},
	{0x20000, 0x3fffd},
}

// cells is how many cells a character takes at most.
func cells(r rune) int {
	if r < wide[0][0] {
		return 1
	}
	for _, span := range wide {
		if r < span[0] {
			return 1
		}
		if r <= span[1] {
			return 2
		}
	}
	return 1
}

// textCells is how many cells a text takes at most.
func textCells(text string) int {
	n := 0
	for _, r := range text {
		n += cells(r)
	}
	return n
}

// wrap breaks a text after separators into lines of at most room cells. The
// first begins with first, all others with rest; what cannot be broken is left.
func wrap(text, separator, first, rest string, room int) string {
	var b strings.Builder
	row, empty := first, true
	for piece := range strings.SplitAfterSeq(text, separator) {
		if !empty && textCells(row)+textCells(strings.TrimRight(piece, " ")) > room {
			b.WriteString(strings.TrimRight(row, " ") + "\n")
			row = rest
		}
		row += piece
		empty = false
	}
	return b.String() + row
}

// fit shortens text, which ends in tail, to a number of cells. What is left out
// stands before the tail, as long as some of the text is left with it.
func fit(text, tail string, room int) string {
	const ellipsis, ellipsisCells, least = "…", 2, 4 // some fonts give it two
	taken, kept := 0, 0
	tailRoom := room - utf8.RuneCountInString(tail) - ellipsisCells
	if tailRoom < least {
		tail, tailRoom = "", room-ellipsisCells
	}
	for i, r := range text {
		if taken <= tailRoom {
			kept = i
		}
		taken += cells(r)
	}
	switch {
	case taken <= room:
		return text
	case room < ellipsisCells:
		return ""
	}
	return text[:kept] + ellipsis + tail
}
