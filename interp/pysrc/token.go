package pysrc

import "strings"

// kind is what a token is.
type kind uint8

const (
	endOfText kind = iota
	newline        // the end of a logical line
	name           // keywords too
	number
	quoted // a string or bytes literal, prefix and quotes included
	sign   // one character, or ":="
)

// token is text[start:end]. depth is how many brackets are open around it; an
// opening and its closing bracket have the same.
type token struct {
	kind       kind
	start, end int
	line       int
	depth      int
}

// scanner cuts text into tokens as Python does. What Python would refuse it cuts
// somehow, and always ends.
type scanner struct {
	text  string
	pos   int
	line  int // of pos, from 1
	depth int
	// indent is the column at which the current logical line begins.
	indent int
	// begun says that the current logical line has a token.
	begun bool
}

func newScanner(text string) *scanner {
	return &scanner{text: text, line: 1}
}

// of is the text of a token.
func (s *scanner) of(t token) string { return s.text[t.start:t.end] }

// is says whether t is the name or sign word.
func (s *scanner) is(t token, word string) bool {
	return (t.kind == name || t.kind == sign) && s.of(t) == word
}

// next is the next token; after the last one, and a newline that is made up
// where the last line has none, endOfText.
func (s *scanner) next() token {
	column := 0
	for s.pos < len(s.text) {
		switch c := s.text[s.pos]; c {
		case ' ':
			column++
			s.pos++
		case '\t':
			column = (column/8 + 1) * 8
			s.pos++
		case '\f':
			column = 0
			s.pos++
		case '#':
			s.pos = s.lineEnd(s.pos)
		case '\n':
			s.pos++
			s.line++
			column = 0
			if s.begun && s.depth == 0 {
				s.begun = false
				return token{kind: newline, start: s.pos - 1, end: s.pos, line: s.line - 1}
			}
		case '\\':
			s.pos++
			if s.pos < len(s.text) && s.text[s.pos] == '\n' {
				s.pos++
				s.line++
			}
		default:
			if !s.begun {
				s.begun, s.indent = true, column
			}
			return s.token(c)
		}
	}
	if s.begun {
		s.begun, s.depth = false, 0
		return token{kind: newline, start: s.pos, end: s.pos, line: s.line}
	}
	return token{kind: endOfText, start: s.pos, end: s.pos, line: s.line}
}

// token is the token that begins at pos with c.
func (s *scanner) token(c byte) token {
	t := token{kind: sign, start: s.pos, line: s.line, depth: s.depth}
	switch {
	case c == '"' || c == '\'':
		t.kind = quoted
		s.pos = s.quoted(s.pos, s.pos, 0)
	case wordByte(c) && (c < '0' || c > '9'):
		t.kind = name
		s.pos = s.wordEnd(s.pos)
		if s.prefix(t.start, s.pos) {
			t.kind = quoted
			s.pos = s.quoted(t.start, s.pos, 0)
		}
	case c >= '0' && c <= '9':
		t.kind = number
		for s.pos < len(s.text) && (wordByte(s.text[s.pos]) || s.text[s.pos] == '.') {
			s.pos++
		}
	default:
		s.pos++
		switch c {
		case '(', '[', '{':
			s.depth++
		case ')', ']', '}':
			s.depth = max(0, s.depth-1)
			t.depth = s.depth
		case ':':
			if s.pos < len(s.text) && s.text[s.pos] == '=' {
				s.pos++
			}
		}
	}
	t.end = s.pos
	return t
}

// lineEnd is where the line that holds i ends, before its newline.
func (s *scanner) lineEnd(i int) int {
	if n := strings.IndexByte(s.text[i:], '\n'); n >= 0 {
		return i + n
	}
	return len(s.text)
}

// wordEnd is where the word that begins at i ends.
func (s *scanner) wordEnd(i int) int {
	for i < len(s.text) && wordByte(s.text[i]) {
		i++
	}
	return i
}

// wordByte says whether c can be part of a name: what is not ASCII always can.
func wordByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c >= 0x80
}

// prefix says whether text[start:end] is the prefix of the literal at end.
func (s *scanner) prefix(start, end int) bool {
	if end-start > 2 || end >= len(s.text) || s.text[end] != '"' && s.text[end] != '\'' {
		return false
	}
	switch strings.ToLower(s.text[start:end]) {
	case "r", "b", "u", "f", "t", "br", "rb", "fr", "rf", "tr", "rt":
		return true
	}
	return false
}
