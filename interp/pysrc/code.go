package pysrc

import (
	"regexp"
	"strings"
	"sync"
)

// Expression compiles a regular expression at its first use. Most runs use none, and compiling all
// of them would take longer than the rest of a start.
func Expression(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}

// literal is a string literal. text is the text between its quotes. line is its first line.
type literal struct {
	prefix, text string
	closed       bool
	line         int
}

// render returns the code of text, one logical line per line. It drops comments, replaces line ends
// inside brackets with a space, and replaces each string literal with the result of replace. For
// invalid code the result is undefined.
//
// An f-string ends at the first quote of its own kind, even inside braces.
func render(text string, replace func(literal) string) string {
	var out strings.Builder
	out.Grow(min(len(text), 64<<10))
	line, depth := 1, 0
	for i := 0; i < len(text); {
		c := text[i]
		switch {
		case c == '#':
			i = lineEnd(text, i)
			continue
		case c == '\\' && i+1 < len(text) && text[i+1] == '\n':
			line++
			i += 2
			continue
		case c == '"' || c == '\'' || isWord(c):
			end := i
			for end < len(text) && isWord(text[end]) {
				end++
			}
			if end < len(text) && (text[end] == '"' || text[end] == '\'') && isPrefix(text[i:end]) {
				found := literal{prefix: text[i:end], line: line}
				found.text, end, found.closed = quotedAt(text, end)
				out.WriteString(replace(found))
				line += strings.Count(text[i:end], "\n")
			} else {
				out.WriteString(text[i:end])
			}
			i = end
			continue
		case c == '(' || c == '[' || c == '{':
			depth++
		case c == ')' || c == ']' || c == '}':
			depth = max(0, depth-1)
		case c == marker[0]: // would look like a literal; Python rejects this character anyway
			c = ' '
		case c == '\n':
			line++
			if depth > 0 {
				c = ' '
			}
		}
		out.WriteByte(c)
		i++
	}
	return out.String()
}

// quotedAt returns the text of the literal whose opening quote is at i, and the index after its
// closing quote. If the literal is not closed, end is the end of the line or of the text.
func quotedAt(text string, i int) (inside string, end int, closed bool) {
	mark := text[i : i+1]
	if triple := mark + mark + mark; strings.HasPrefix(text[i:], triple) {
		mark = triple
	}
	start := i + len(mark)
	for i = start; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '\n':
			if len(mark) == 1 {
				return text[start:i], i, false
			}
		case mark[0]:
			if strings.HasPrefix(text[i:], mark) {
				return text[start:i], i + len(mark), true
			}
		}
	}
	return text[start:], len(text), false
}

func lineEnd(text string, i int) int {
	if n := strings.IndexByte(text[i:], '\n'); n >= 0 {
		return i + n
	}
	return len(text)
}

// isWord reports whether c can be part of a name. Bytes above ASCII always can.
func isWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c >= 0x80
}

// isPrefix reports whether word is a prefix of string literals.
func isPrefix(word string) bool { return len(word) <= 2 && strings.Trim(word, "rRbBuUfFtT") == "" }
