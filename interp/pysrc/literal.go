package pysrc

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// appendLiteral appends to data the bytes of one bytes literal as Python reads it, or
// of one str literal as if it were encoded in Latin-1. It needs no more memory
// than the literal is long.
func appendLiteral(data []byte, text string, line int) ([]byte, error) {
	at := strings.IndexAny(text, `'"`)
	if at < 0 {
		return data, badLiteral(line, fmt.Sprintf("%.20q", text), "a quote")
	}
	prefix := strings.ToLower(text[:at])
	mark := text[at : at+1]
	if triple := strings.Repeat(mark, 3); strings.HasPrefix(text[at:], triple) {
		mark = triple
	}
	body, closed := strings.CutSuffix(text[at+len(mark):], mark)
	if !closed || len(text) < at+2*len(mark) {
		return data, badLiteral(line, "the end", mark)
	}
	if strings.ContainsAny(prefix, "ft") {
		return data, badLiteral(line, "the prefix "+prefix, "a constant")
	}
	d := decoder{data: data, text: body, line: line, bytes: strings.Contains(prefix, "b")}
	return d.decode(strings.Contains(prefix, "r"))
}

func badLiteral(line int, seen, wanted string) error {
	return &Error{Line: line, Reason: seen + " in a literal, want " + wanted}
}

// decoder reads the inside of a literal.
type decoder struct {
	data  []byte
	text  string
	line  int
	bytes bool // else a str
}

// decode reads it to its end.
func (d *decoder) decode(raw bool) ([]byte, error) {
	for d.text != "" {
		// What is plain ASCII is copied in one go.
		n := 0
		for n < len(d.text) && d.text[n] < utf8.RuneSelf && (raw || d.text[n] != '\\') {
			n++
		}
		d.data, d.text = append(d.data, d.text[:n]...), d.text[n:]
		if d.text == "" {
			break
		}
		var err error
		if d.text[0] == '\\' {
			err = d.escape()
		} else {
			r, size := utf8.DecodeRuneInString(d.text)
			if r == utf8.RuneError && size == 1 {
				return d.data, d.fail("a byte that is no UTF-8", "text")
			}
			d.text = d.text[size:]
			err = d.put(r)
		}
		if err != nil {
			return d.data, err
		}
	}
	return d.data, nil
}

func (d *decoder) fail(seen, wanted string) error {
	return badLiteral(d.line, seen, wanted)
}

// put appends a character that is not ASCII, or one that an escape means.
func (d *decoder) put(r rune) error {
	if d.bytes {
		return d.fail(fmt.Sprintf("%+q", r), "ASCII and escapes")
	}
	return d.latin(r)
}

// latin appends a character of Latin-1.
func (d *decoder) latin(r rune) error {
	if r > 0xff {
		return d.fail(fmt.Sprintf("%+q", r), `a character up to \xff`)
	}
	d.data = append(d.data, byte(r))
	return nil
}

// simple are the escapes that mean one byte.
var simple = [256]byte{
	'\\': '\\', '\'': '\'', '"': '"', 'a': 7, 'b': 8, 'f': 12, 'n': 10, 'r': 13, 't': 9, 'v': 11,
}

// escape reads the escape that text begins with.
func (d *decoder) escape() error {
	if len(d.text) == 1 {
		return d.fail("a backslash at the end", "a character after it")
	}
	c := d.text[1]
	switch {
	case simple[c] != 0:
		d.data, d.text = append(d.data, simple[c]), d.text[2:]
	case c == '\n':
		d.text = d.text[2:]
	case c == 'x':
		return d.hex(2)
	case c >= '0' && c <= '7':
		return d.octal()
	case !d.bytes && c == 'u':
		return d.hex(4)
	case !d.bytes && c == 'U':
		return d.hex(8)
	case !d.bytes && c == 'N':
		return d.fail(`\N`, "a character by its number")
	default: // no escape: the backslash stays
		d.data, d.text = append(d.data, '\\'), d.text[1:]
	}
	return nil
}

// octal reads a backslash and one to three octal digits. A bytes literal takes
// the low eight bits of more.
func (d *decoder) octal() error {
	value, n := rune(0), 1
	for n < len(d.text) && n < 4 && d.text[n] >= '0' && d.text[n] <= '7' {
		value = value<<3 | rune(d.text[n]-'0')
		n++
	}
	d.text = d.text[n:]
	if d.bytes {
		value &= 0xff
	}
	return d.latin(value)
}

// hex reads a backslash, a letter and exactly that many digits.
func (d *decoder) hex(digits int) error {
	if len(d.text) < 2+digits {
		return d.fail(fmt.Sprintf("%+q", d.text), fmt.Sprintf("%d hexadecimal digits", digits))
	}
	value := uint32(0)
	for _, c := range []byte(d.text[2 : 2+digits]) {
		v, ok := hexDigit(c)
		if !ok {
			return d.fail(fmt.Sprintf("%+q", d.text[:2+digits]), fmt.Sprintf("%d hexadecimal digits", digits))
		}
		value = value<<4 | uint32(v)
	}
	d.text = d.text[2+digits:]
	return d.latin(rune(min(value, utf8.MaxRune)))
}

func hexDigit(c byte) (value byte, ok bool) {
	switch {
	case c >= '0' && c <= '9':
		return c - '0', true
	case c >= 'a' && c <= 'f':
		return c - 'a' + 10, true
	case c >= 'A' && c <= 'F':
		return c - 'A' + 10, true
	}
	return 0, false
}
