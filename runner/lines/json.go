package lines

import (
	"bytes"
	"encoding/json"
	"iter"
	"unicode/utf8"
)

// blanks are JSON's, except the newline, which ends a line.
const blanks = " \t\r"

// validJSON reports whether text is one JSON value in UTF-8.
func validJSON(text []byte) bool { return json.Valid(text) && utf8.Valid(text) }

// members yields the keys, which are JSON strings, and the values of a valid JSON object.
// Both are parts of its text.
func members(object []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func(key, value []byte) bool) {
		rest := object // from the brace or comma in front of a member
		part := func() []byte {
			n := 1 + partSize(rest[1:])
			text := bytes.Trim(rest[1:n], blanks)
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

// partSize is the length of a key or value with the blanks around it: what ends it is a
// colon, a comma or the brace of the object.
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
