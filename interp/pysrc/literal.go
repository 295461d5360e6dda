package pysrc

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// appendLiteral appends to data the bytes of one literal with its prefix and quotes, as
// Python reads bytes, or text that is encoded in Latin-1. It knows the escapes of
// generated code; with any other one, or if raw is no literal, it is not ok.
func appendLiteral(data []byte, raw string) (_ []byte, ok bool) {
	at := strings.IndexAny(raw, `'"`)
	if at < 0 || strings.ContainsAny(raw[:at], "fFtT") {
		return data, false
	}
	mark := raw[at : at+1]
	if triple := strings.Repeat(mark, 3); strings.HasPrefix(raw[at:], triple) {
		mark = triple
	}
	text, closed := strings.CutSuffix(raw[at+len(mark):], mark)
	if !closed || len(raw) < at+2*len(mark) {
		return data, false
	}
	escapes := !strings.ContainsAny(raw[:at], "rR")
	for text != "" {
		switch {
		case !escapes || text[0] != '\\':
			r, size := utf8.DecodeRuneInString(text)
			if r > 0xff {
				return data, false
			}
			data, text = append(data, byte(r)), text[size:]
		case strings.HasPrefix(text, "\\\n"):
			text = text[2:]
		case strings.HasPrefix(text, `\'`), strings.HasPrefix(text, `\"`):
			data, text = append(data, text[1]), text[2:]
		default:
			r, _, rest, err := strconv.UnquoteChar(text, 0)
			if err != nil || r > 0xff {
				return data, false
			}
			data, text = append(data, byte(r)), rest
		}
	}
	return data, true
}
