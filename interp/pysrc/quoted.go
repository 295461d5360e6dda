package pysrc

import "strings"

// deepest is how many literals are followed into each other's braces; what is
// nested deeper is taken for plain text.
const deepest = 100

// quotes is how a literal is delimited and read.
type quotes struct {
	mark   string // one quote or three
	raw    bool
	braces bool // an f-string or t-string
	deep   int
}

// opening is the delimiter of the literal whose prefix is text[start:at].
func (s *scanner) opening(start, at, deep int) quotes {
	prefix := strings.ToLower(s.text[start:at])
	q := quotes{
		mark:   s.text[at : at+1],
		raw:    strings.Contains(prefix, "r"),
		braces: strings.ContainsAny(prefix, "ft") && deep < deepest,
		deep:   deep,
	}
	if at+2 < len(s.text) && s.text[at+1] == s.text[at] && s.text[at+2] == s.text[at] {
		q.mark = s.text[at : at+3]
	}
	return q
}

// quoted is where the literal ends whose prefix begins at start and whose
// opening quote is at at: after its closing quote, or, if it is not closed, at
// the end of the line or of the text.
func (s *scanner) quoted(start, at, deep int) int {
	q := s.opening(start, at, deep)
	i := at + len(q.mark)
	for i < len(s.text) {
		switch c := s.text[i]; {
		case c == '\\':
			i = s.escape(i, q)
		case c == '\n':
			if len(q.mark) == 1 {
				return i
			}
			s.line++
			i++
		case c == q.mark[0] && strings.HasPrefix(s.text[i:], q.mark):
			return i + len(q.mark)
		case c == '{' && q.braces:
			if i+1 < len(s.text) && s.text[i+1] == '{' {
				i += 2
				continue
			}
			i = s.braces(i+1, q)
		default:
			i++
		}
	}
	return i
}

// escape is where the text goes on after the backslash at i.
func (s *scanner) escape(i int, q quotes) int {
	if i+1 >= len(s.text) {
		return i + 1
	}
	switch s.text[i+1] {
	case '\n':
		s.line++
	case '{', '}':
		if q.braces {
			return i + 1
		}
	case 'N':
		if q.braces && !q.raw && i+2 < len(s.text) && s.text[i+2] == '{' {
			return i + 3 // "\N{NAME}" is no expression
		}
	}
	return i + 2
}

// braces is where the expression that begins at i, within the braces of q, and
// its format have ended: after the closing brace, or where q itself ends.
func (s *scanner) braces(i int, q quotes) int {
	open := 0
	for i < len(s.text) {
		switch c := s.text[i]; {
		case c == '}' && open == 0:
			return i + 1
		case c == ':' && open == 0:
			return s.format(i+1, q)
		case c == '(' || c == '[' || c == '{':
			open++
			i++
		case c == ')' || c == ']' || c == '}':
			open = max(0, open-1)
			i++
		case c == '#':
			i = s.lineEnd(i)
		case c == '\n':
			s.line++
			i++
		case c == '"' || c == '\'':
			i = s.quoted(i, i, q.deep+1)
		case wordByte(c):
			end := s.wordEnd(i)
			if s.prefix(i, end) {
				end = s.quoted(i, end, q.deep+1)
			}
			i = end
		default:
			i++
		}
	}
	return i
}

// format is where the format after an expression's colon has ended.
func (s *scanner) format(i int, q quotes) int {
	for i < len(s.text) {
		switch c := s.text[i]; {
		case c == '}':
			return i + 1
		case c == '{' && q.deep < deepest:
			deeper := q
			deeper.deep++
			i = s.braces(i+1, deeper)
		case c == '\\':
			i = s.escape(i, q)
		case c == '\n' && len(q.mark) == 3:
			s.line++
			i++
		case c == '\n', c == q.mark[0] && strings.HasPrefix(s.text[i:], q.mark):
			return i // the literal ends here; whoever called sees it too
		default:
			i++
		}
	}
	return i
}
