package pysrc

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/pyplug/pyplug/interp/bounded"
)

// Decode returns the text of source, see [bounded.Text], with "\n" as line ends. It reads other
// encodings than UTF-8 as Latin-1: pysrc looks only for ASCII, which all encodings of Python source
// share.
func Decode(source []byte) string {
	text := bounded.Text(source)
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
	// Text is its TOML without comment signs. It has the same lines as the source.
	Text string
	// Line is the line of the source on which Text starts, from 1. It is 0 if there is no block.
	Line int
}

// BlockError is a mistake in a metadata block.
type BlockError struct {
	// Line is the line of the mistake, from 1. Message says what is wrong and what was expected.
	// Fix says what to do.
	Line         int
	Message, Fix string
}

func (e *BlockError) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Message) }

// block is the regular expression of PEP 723: an opening line, then comment lines up to the last "#
// ///".
var block = Expression(`(?m)^# /// ([a-zA-Z0-9-]+)$\n((?:^#(?:| .*)$\n)+)^# ///$`)

// The first and last line of a script block.
const opening, closing = "# /// script", "# ///"

// Script returns the block "script" in text from Decode, or the zero Block if there is none. As in
// PEP 723, a single block counts wherever it is. If there are several, Script ignores those inside
// string literals, which are text for other files. The error is a [*BlockError], for a second block
// that remains, or for one that is not closed.
func Script(text string) (Block, error) {
	if !strings.Contains(text, opening) {
		return Block{}, nil
	}
	inString := sync.OnceValue(func() map[int]bool { return stringLines(text) })
	var found []Block
	end, line := 0, 1 // the end of the text read so far, and its line
	for _, m := range append(block().FindAllStringSubmatchIndex(text, -1), []int{len(text), len(text)}) {
		if err := unclosed(text[end:m[0]], line, inString); err != nil {
			return Block{}, err
		}
		line += strings.Count(text[end:m[0]], "\n")
		if m[0] < len(text) && text[m[2]:m[3]] == "script" {
			found = append(found, Block{uncommented(text[m[4]:m[5]]), line + 1})
		}
		end, line = m[1], line+strings.Count(text[m[0]:m[1]], "\n")
	}
	if len(found) > 1 {
		found = slices.DeleteFunc(found, func(b Block) bool { return inString()[b.Line-1] })
	}
	switch len(found) {
	case 0:
		return Block{}, nil
	case 1:
		return found[0], nil
	}
	message := fmt.Sprintf("a second script block, the first is on line %d, expected one", found[0].Line-1)
	return Block{}, &BlockError{found[1].Line - 1, message, "merge the two blocks"}
}

// uncommented returns comment lines without their signs.
func uncommented(text string) string {
	var lines strings.Builder
	for comment := range strings.Lines(text) {
		lines.WriteString(strings.TrimPrefix(strings.TrimPrefix(comment, "#"), " "))
	}
	return lines.String()
}

// unclosed returns an error for the first script block that text opens. text contains no complete
// block. number is the line number of text's first line. unclosed ignores lines that start inside a
// string literal, and blocks without content.
func unclosed(text string, number int, inString func() map[int]bool) error {
	opened := 0 // the line that opens the block, or 0 outside of a block
	for line := range strings.Lines(text + "\n\n") {
		line = strings.TrimSuffix(line, "\n")
		bare := strings.TrimRightFunc(line, unicode.IsSpace)
		first := opened == 0 && bare == opening && !inString()[number]
		if first {
			opened = number
		}
		var mistake *BlockError
		switch {
		case opened == 0:
		case line == closing:
			opened = 0
		case bare != line && (first || bare == closing):
			mistake = &BlockError{number, fmt.Sprintf("%q ends with blanks, expected %q", line, bare), "remove the blanks at the end of the line"}
		case line == "#", strings.HasPrefix(line, "# "):
		case strings.HasPrefix(line, "#"):
			mistake = &BlockError{number, fmt.Sprintf("%q is in a script block, expected a blank after #", line), fmt.Sprintf("write %q", "# "+line[1:])}
		default:
			mistake = &BlockError{opened, "the script block is not closed", fmt.Sprintf("end it with the line %q, and start each line in it with #", closing)}
		}
		if mistake != nil {
			return mistake
		}
		number++
	}
	return nil
}

// stringLines returns the numbers of the lines that start inside a string literal.
func stringLines(text string) map[int]bool {
	inside := map[int]bool{}
	render(text, func(l literal) string {
		for i := range strings.Count(l.text, "\n") {
			inside[l.line+1+i] = true
		}
		return ""
	})
	return inside
}
