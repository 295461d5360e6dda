package schema

import (
	"bytes"
	"iter"
)

// Blanks are the blank characters of JSON.
const Blanks = " \t\r\n"

// Trim removes [Blanks] around a text. Usually there are none.
func Trim(text []byte) []byte {
	if len(text) > 0 && text[0] > ' ' && text[len(text)-1] > ' ' {
		return text
	}
	return bytes.Trim(text, Blanks)
}

// Members yields the keys, which are JSON strings, and the values of a valid JSON object. Both are
// slices of its text.
func Members(object []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func(key, value []byte) bool) {
		rest := object // begins with the brace or comma before a member
		part := func() []byte {
			n := 1 + partSize(rest[1:])
			text := Trim(rest[1:n])
			rest = rest[n:]
			return text
		}
		for rest[0] != '}' {
			key := part()
			if len(key) == 0 || !yield(key, part()) {
				return
			}
		}
	}
}

// partSize returns the length of a key or value with the Blanks around it. The key or value ends at
// a colon, a comma, the closing bracket or the end of the text.
func partSize(rest []byte) int {
	depth := 0
	for i := 0; i < len(rest); i++ {
		switch rest[i] {
		case '"':
			for i++; i < len(rest) && rest[i] != '"'; i++ {
				if rest[i] == '\\' {
					i++
				}
			}
		case '{', '[':
			depth++
		case ':', ',', '}', ']':
			if depth == 0 {
				return i
			}
			if rest[i] == '}' || rest[i] == ']' {
				depth--
			}
		}
	}
	return len(rest)
}
