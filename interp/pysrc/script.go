package pysrc

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"
)

// Decode returns the text of source, without byte order mark and with "\n" as line
// ends. What is not UTF-8 is read as Latin-1: in each encoding that Python source may
// have, all that is looked for here is ASCII.
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
	// Text is the TOML in it, without its comment signs, one line for each of
	// the source.
	Text string
	// Line is the line of the source that the first line of Text is on, from 1;
	// 0 when there is no block.
	Line int
}

// block is the expression in PEP 723: an opening line and the comment lines after it, as
// far as the last of them that is "# ///".
var block = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^# /// ([a-zA-Z0-9-]+)$\n((?:^#(?:| .*)$\n)+)^# ///$`)
})

// Script finds the block "script" in text that Decode returned. The zero Block means
// that there is none; one that is never closed is none.
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
