package lines

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"iter"
	"unicode/utf8"
)

// blanks are JSON's, except the newline, which ends a line.
const blanks = " \t\r"

// longText is from which size on strings are looked at before encoding/json does, which
// takes five times as long for each character.
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
func withoutPlain(text []byte) []byte {
	var left []byte
	quoted := false
	for {
		if quoted {
			text = text[plainSize(text):]
		}
		if len(text) == 0 {
			return left
		}
		n := 1
		if text[0] == '"' {
			quoted = !quoted
		} else if quoted {
			n = min(escapeSize(text), len(text))
		}
		left = append(left, text[:n]...)
		text = text[n:]
	}
}

// plainSize is how many bytes of a string's rest are neither a quote, an escape nor a
// control character.
func plainSize(rest []byte) int {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	i := 0
	for ; len(rest)-i >= 8; i += 8 { // eight at once, as far as all of them are plain
		c := binary.LittleEndian.Uint64(rest[i:])
		quote, escape := c^ones*'"', c^ones*'\\' // have a zero for each
		if ((c-ones*' ')&^c|(quote-ones)&^quote|(escape-ones)&^escape)&tops != 0 {
			break
		}
	}
	for ; i < len(rest); i++ {
		if c := rest[i]; c < ' ' || c == '"' || c == '\\' {
			break
		}
	}
	return i
}

// escapeSize is the length of the escape that a text begins with; 1 without one.
func escapeSize(text []byte) int {
	switch {
	case text[0] != '\\':
		return 1
	case bytes.HasPrefix(text, []byte(`\u`)):
		return len(`\u0000`)
	}
	return len(`\n`)
}

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
