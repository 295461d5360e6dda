package pysrc

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Decode returns the text of source without byte order mark and with "\n" as line ends. It reads
// what is not UTF-8 as Latin-1: pysrc looks only for ASCII, which all encodings of Python source
// share.
func Decode(source []byte) string {
	text := strings.TrimPrefix(string(source), "\ufeff")
	if !utf8.ValidString(text) {
		runes := make([]rune, len(text))
		for i := range len(text) {
			runes[i] = rune(text[i])
		}
		text = string(runes)
	}
	return strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
}

// Block is a metadata block.
type Block struct {
	// Text is its TOML without comment signs, with the same lines as the source.
	Text string
	// Line is the line of the source on which Text starts, from 1. It is 0 if there is no block.
	Line int
}

// block is the expression of PEP 723: an opening line, then comment lines up to the last "# ///".
var block = Expression(`(?m)^# /// ([a-zA-Z0-9-]+)$\n((?:^#(?:| .*)$\n)+)^# ///$`)

// Script returns the block "script" in text from Decode. The zero Block means that there is none,
// or none that is closed.
func Script(text string) (Block, error) {
	if !strings.Contains(text, "# /// script") {
		return Block{}, nil
	}
	var found Block
	for _, m := range block().FindAllStringSubmatchIndex(text, -1) {
		if text[m[2]:m[3]] != "script" {
			continue
		}
		line := strings.Count(text[:m[4]], "\n") + 1
		if found.Line != 0 {
			return Block{}, fmt.Errorf("line %d: a second script block, the first is on line %d, want one", line-1, found.Line-1)
		}
		found.Line = line
		var lines strings.Builder
		for comment := range strings.Lines(text[m[4]:m[5]]) {
			lines.WriteString(strings.TrimPrefix(strings.TrimPrefix(comment, "#"), " "))
		}
		found.Text = lines.String()
	}
	return found, nil
}
