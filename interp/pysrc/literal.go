package pysrc

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// appendLiteral appends to data the bytes of one bytes literal as Python reads it, or of
// one str literal as if it were encoded in Latin-1. raw is the literal with its prefix and
// quotes, on the given line. Escapes of characters by name or by more than two hexadecimal
// digits are an error: generated code has none.
func appendLiteral(data []byte, raw string, line int) ([]byte, error) {
	fail := func(seen, wanted string) ([]byte, error) {
		return data, &Error{Line: line, Reason: seen + " in a literal, want " + wanted}
	}
	at := strings.IndexAny(raw, `'"`)
	if at < 0 {
		return fail(fmt.Sprintf("%.20q", raw), "a quote")
	}
	prefix, mark := strings.ToLower(raw[:at]), raw[at:at+1]
	if triple := strings.Repeat(mark, 3); strings.HasPrefix(raw[at:], triple) {
		mark = triple
	}
	text, closed := strings.CutSuffix(raw[at+len(mark):], mark)
	switch {
	case !closed || len(raw) < at+2*len(mark):
		return fail("the end", mark)
	case strings.ContainsAny(prefix, "ft"):
		return fail("the prefix "+prefix, "a constant")
	}
	isBytes, escapes := strings.Contains(prefix, "b"), !strings.Contains(prefix, "r")
	for text != "" {
		switch c := text[0]; {
		case c == '\\' && escapes:
			value, length, wanted := escape(text, isBytes)
			if wanted != "" {
				return fail(fmt.Sprintf("%+q", text[:length]), wanted)
			}
			if text = text[length:]; value >= 0 {
				data = append(data, byte(value))
			}
		case c < utf8.RuneSelf:
			data, text = append(data, c), text[1:]
		default:
			r, size := utf8.DecodeRuneInString(text)
			if isBytes {
				return fail(fmt.Sprintf("%+q", r), "ASCII and escapes")
			}
			if r > 0xff {
				return fail(fmt.Sprintf("%+q", r), `a character up to \xff`)
			}
			data, text = append(data, byte(r)), text[size:]
		}
	}
	return data, nil
}

// oneByte are the escapes of one letter or sign, and the bytes that they stand for.
const oneByte, itsByte = `\'"abfnrtv`, "\\'\"\a\b\f\n\r\t\v"

// escape reads the escape that text begins with: the byte that it stands for, -1 for none,
// and how long it is. Of a wrong one wanted says what should stand there.
func escape(text string, isBytes bool) (value, length int, wanted string) {
	if len(text) == 1 {
		return 0, 1, "a character after it"
	}
	c := text[1]
	if i := strings.IndexByte(oneByte, c); i >= 0 {
		return int(itsByte[i]), 2, ""
	}
	switch {
	case c == '\n':
		return -1, 2, ""
	case c == 'x':
		length = min(4, len(text))
		number, err := strconv.ParseUint(text[2:length], 16, 8)
		if err != nil || length < 4 {
			return 0, length, "2 hexadecimal digits"
		}
		return int(number), length, ""
	case c >= '0' && c <= '7':
		for length = 1; length < min(4, len(text)) && text[length] >= '0' && text[length] <= '7'; length++ {
			value = value<<3 | int(text[length]-'0')
		}
		if value > 0xff && !isBytes { // of bytes the low eight bits count
			return 0, length, `a character up to \xff`
		}
		return value & 0xff, length, ""
	case !isBytes && (c == 'u' || c == 'U' || c == 'N'):
		return 0, 2, `a byte by \x and two digits`
	}
	return '\\', 1, "" // it is no escape, and the backslash stays
}
