package lines

import (
	"bytes"
	"encoding/json"
)

// blanks are JSON's but for the newline, which ends a line.
const blanks = " \t\r"

// members goes through the members of one object. Its text is known to be valid
// JSON, begins with the object, and has no newline.
type members struct {
	text []byte
	at   int // behind the brace, or behind a member
}

// next returns a key, as the JSON string that it is, and its value; false behind
// the last one. Both are parts of the text.
func (m *members) next() (key, value []byte, ok bool) {
	m.skip(',')
	if m.text[m.at] == '}' {
		return nil, nil, false
	}
	start := m.at
	m.at = behindString(m.text, start)
	key = m.text[start:m.at:m.at]
	m.skip(':')
	start = m.at
	m.at = behindValue(m.text, start)
	return key, m.text[start:m.at:m.at], true
}

// skip goes past blanks and a mark.
func (m *members) skip(mark byte) {
	for {
		switch m.text[m.at] {
		case mark, ' ', '\t', '\r':
			m.at++
		default:
			return
		}
	}
}

// behindValue is where the value that starts at i has ended.
func behindValue(b []byte, i int) int {
	switch b[i] {
	case '"':
		return behindString(b, i)
	case '{', '[':
		for depth := 0; ; {
			switch b[i] {
			case '"':
				i = behindString(b, i)
				continue
			case '{', '[':
				depth++
			case '}', ']':
				if depth--; depth == 0 {
					return i + 1
				}
			}
			i++
		}
	}
	return i + bytes.IndexAny(b[i:], ",} \t\r")
}

// behindString is where the string that starts at i has ended.
func behindString(b []byte, i int) int {
	for i++; ; i++ {
		i += bytes.IndexByte(b[i:], '"')
		slashes := 0
		for b[i-1-slashes] == '\\' {
			slashes++
		}
		if slashes%2 == 0 {
			return i + 1
		}
	}
}

// text reads a JSON string, which is valid.
func text(quoted []byte) string {
	if inner := quoted[1 : len(quoted)-1]; bytes.IndexByte(inner, '\\') < 0 {
		return string(inner)
	}
	var s string
	if err := json.Unmarshal(quoted, &s); err != nil {
		panic("a string of valid JSON is none: " + err.Error())
	}
	return s
}
