package lines

import (
	"bytes"
	"encoding/json"
	"iter"
	"unicode/utf8"
)

// blanks are the blank characters of JSON.
const blanks = " \t\r\n"

// trim removes the blanks around a text. Mostly there are none.
func trim(text []byte) []byte {
	if len(text) > 0 && text[0] > ' ' && text[len(text)-1] > ' ' {
		return text
	}
	return bytes.Trim(text, blanks)
}

// longText is the size from which withoutPlain shortens a text before encoding/json checks
// it. encoding/json takes five times as long for each character.
const longText = 64 << 10

// validJSON reports whether text is one JSON value in UTF-8.
func validJSON(text []byte) bool {
	if !utf8.Valid(text) {
		return false
	}
	if len(text) >= longText {
		text = withoutPlain(text)
	}
	return json.Valid(text)
}

// withoutPlain drops the plain characters of strings. What is left is valid JSON if and
// only if text is: it has the same quotes, escapes and control characters in the same
// order.
func withoutPlain(text []byte) (left []byte) {
	quoted := false
	for i := 0; i < len(text); i++ {
		size := 1
		switch c := text[i]; {
		case c == '"':
			quoted = !quoted
		case quoted && c >= ' ' && c != '\\': // before the escapes: nearly all of a long line
			continue
		case quoted && bytes.HasPrefix(text[i:], []byte(`\u`)):
			size = len(`\u0000`)
		case quoted && c == '\\':
			size = len(`\n`)
		}
		left = append(left, text[i:min(i+size, len(text))]...)
		i += size - 1
	}
	return left
}

// Members yields the keys, which are JSON strings, and the values of a valid JSON object.
// Both are parts of its text.
func Members(object []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func(key, value []byte) bool) {
		rest := object // from the brace or comma in front of a member
		part := func() []byte {
			n := 1 + partSize(rest[1:])
			text := trim(rest[1:n])
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

// partSize returns the length of a key or value with the blanks around it. A colon, a comma
// or the brace of the object ends it.
func partSize(rest []byte) int {
	depth := 0
	for i := 0; ; i++ {
		switch rest[i] {
		case '"':
			for i++; rest[i] != '"'; i++ {
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
}

// unquote reads a valid JSON string.
func unquote(quoted []byte) string {
	if inner := quoted[1 : len(quoted)-1]; bytes.IndexByte(inner, '\\') < 0 {
		return string(inner)
	}
	var s string
	if err := json.Unmarshal(quoted, &s); err != nil {
		panic("a string of valid JSON is none: " + err.Error())
	}
	return s
}
