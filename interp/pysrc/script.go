package pysrc

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"
)

// Error says what is wrong with source text, and where.
type Error struct {
	// Line is the line of the source, from 1.
	Line int
	// Reason says what is wrong.
	Reason string
}

// Error returns the line and the reason.
func (e *Error) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Reason) }

// cookie is PEP 263's, in the first or second line.
var cookie = regexp.MustCompile(`^[ \t\f]*#.*?coding[:=][ \t]*([-_.a-zA-Z0-9]+)`)

// Decode returns the text of source, without byte order mark and with "\n" as line
// ends, as Python reads it. UTF-8, ASCII and Latin-1 are known; the error is an
// [*Error].
func Decode(source []byte) (string, error) {
	text := string(source)
	text, marked := strings.CutPrefix(text, "\ufeff")
	name, line := encoding(text)
	switch normal := strings.ReplaceAll(strings.ToLower(name), "_", "-"); {
	case marked, normal == "utf-8", normal == "utf8", strings.HasPrefix(normal, "utf-8-"), normal == "ascii", normal == "us-ascii":
		if bad := invalid(text); bad >= 0 {
			return "", notText(name, 1+strings.Count(text[:bad], "\n"))
		}
	case normal == "latin-1", normal == "latin1", normal == "iso-8859-1", normal == "iso8859-1", normal == "l1",
		strings.HasPrefix(normal, "latin-1-"), strings.HasPrefix(normal, "iso-8859-1-"):
		runes := make([]rune, len(text))
		for i := range len(text) {
			runes[i] = rune(text[i])
		}
		text = string(runes)
	default:
		return "", notText(name, line)
	}
	return strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n"), nil
}

func notText(encoding string, line int) error {
	return &Error{Line: line, Reason: "cannot be read as " + encoding}
}

// encoding is the name in the cookie and the cookie's line. A second line counts
// only after one that holds nothing but a comment.
func encoding(text string) (name string, line int) {
	for line = 1; line <= 2; line++ {
		var first string
		first, text, _ = strings.Cut(text, "\n")
		if m := cookie.FindStringSubmatch(first); m != nil {
			return m[1], line
		}
		if trimmed := strings.Trim(first, " \t\f\r"); trimmed != "" && trimmed[0] != '#' {
			break
		}
	}
	return "utf-8", 1
}

// invalid is where text stops being UTF-8, -1 when it never does.
func invalid(text string) int {
	if utf8.ValidString(text) {
		return -1
	}
	for i, r := range text {
		if r == utf8.RuneError {
			if _, size := utf8.DecodeRuneInString(text[i:]); size == 1 {
				return i
			}
		}
	}
	return -1
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

// opening is the line that opens a block, closing the one that ends it.
const closing = "# ///"

var opening = regexp.MustCompile(`^# /// ([a-zA-Z0-9-]+)$`)

// Script finds the block "script" in text that Decode gave. The zero Block means
// that there is none; one that is never closed is none. The error is a
// [*Error].
//
// It finds what the expression in PEP 723 finds: a block is an opening line and
// the comment lines after it, as far as the last of them that is "# ///".
func Script(text string) (Block, error) {
	if !strings.Contains(text, "# /// script") {
		return Block{}, nil
	}
	lines := strings.Split(text, "\n")
	var found Block
	for i := 0; i < len(lines); i++ {
		m := opening.FindStringSubmatch(lines[i])
		if m == nil {
			continue
		}
		end := closed(lines, i+1)
		if end == 0 {
			continue
		}
		if m[1] == "script" {
			if found.Line != 0 {
				return Block{}, &Error{Line: i + 1, Reason: fmt.Sprintf("a second script block, the first is on line %d, want one", found.Line-1)}
			}
			found = Block{Text: content(lines[i+1 : end]), Line: i + 2}
		}
		i = end
	}
	return found, nil
}

// closed is the index of the last closing line of the run of comments that
// starts at from, 0 when it has none. The expression wants one line of content.
func closed(lines []string, from int) int {
	end := 0
	for i := from; i < len(lines); i++ {
		if lines[i] != "#" && !strings.HasPrefix(lines[i], "# ") {
			break
		}
		if lines[i] == closing && i > from {
			end = i
		}
	}
	return end
}

// content removes the comment signs.
func content(lines []string) string {
	var b strings.Builder
	for _, line := range lines {
		b.WriteString(strings.TrimPrefix(strings.TrimPrefix(line, "#"), " "))
		b.WriteByte('\n')
	}
	return b.String()
}
