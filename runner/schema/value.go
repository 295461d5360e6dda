package schema

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Value writes the text of a VALUE whose parameter has no type that decides: an
// object, array or quoted string that parses is JSON, and so are true, false and
// null, and a number if Python writes it the same way again (2 and 0.5, but not
// 1.10, 00123 and 1e3). Everything else is text. The result is always valid JSON.
func Value(text string) json.RawMessage {
	trimmed := strings.Trim(text, " \t\r\n")
	switch {
	case trimmed == "":
	case strings.IndexByte(`{["`, trimmed[0]) >= 0:
		if json.Valid([]byte(trimmed)) {
			return escapeInvalid(trimmed)
		}
	case text == "true", text == "false", text == "null", isRewritable(text):
		return json.RawMessage(text)
	}
	return Quote(text)
}

// isRewritable reports whether text is a number that Python writes the same way.
func isRewritable(text string) bool {
	digits := strings.TrimPrefix(text, "-")
	if digits == "" || digits[0] < '0' || digits[0] > '9' {
		return false
	}
	if isDigits(digits) {
		return digits[0] != '0' || text == "0"
	}
	f, err := strconv.ParseFloat(text, 64)
	return err == nil && pythonFloat(f) == text
}

// pythonFloat is Python's repr of a finite float.
func pythonFloat(f float64) string {
	scientific := strconv.FormatFloat(f, 'e', -1, 64)
	_, exponent, _ := strings.Cut(scientific, "e")
	if n, _ := strconv.Atoi(exponent); n < -4 || n >= 16 {
		return scientific
	}
	s := strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

func isDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

// ParseInt takes the decimal digits that Python's int takes, however many, and
// writes them as JSON does: without a plus sign and leading zeros.
func ParseInt(text string) (json.RawMessage, bool) {
	sign, digits := CutSign(strings.TrimSpace(text))
	if !isDigits(digits) {
		return nil, false
	}
	if digits = strings.TrimLeft(digits, "0"); digits == "" {
		return json.RawMessage("0"), true
	}
	return json.RawMessage(sign + digits), true
}

// ParseFloat takes what Python's float takes, except nan and infinities, which
// JSON cannot express. It always writes a point or an exponent: Python reads 2 as
// an int.
func ParseFloat(text string) (json.RawMessage, bool) {
	text = strings.TrimSpace(text)
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || strings.ContainsAny(text, "xXnN_") { // hexadecimal, nan, inf, 1_000
		return nil, false
	}
	return json.RawMessage(pythonFloat(f)), true
}

// CutSign cuts a sign off. It drops a plus sign, which JSON does not have.
func CutSign(s string) (sign, rest string) {
	if rest, ok := strings.CutPrefix(s, "-"); ok {
		return "-", rest
	}
	return "", strings.TrimPrefix(s, "+")
}

// ParseBool takes true, false, yes and no in any case, 1 and 0.
func ParseBool(text string) (json.RawMessage, bool) {
	switch strings.ToLower(strings.TrimSpace(text)) {
	case "true", "yes", "1":
		return json.RawMessage("true"), true
	case "false", "no", "0":
		return json.RawMessage("false"), true
	}
	return nil, false
}

// Quote writes text as a JSON string. Bytes that are not UTF-8 become \udc80 to
// \udcff, as Python itself reads such arguments and file names
// (surrogateescape), so nothing is lost.
func Quote(text string) json.RawMessage {
	return AppendQuote(make([]byte, 0, len(text)+2), text)
}

// AppendQuote appends what [Quote] returns to dst.
func AppendQuote(dst []byte, text string) []byte {
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(text); {
		if c := text[i]; c < utf8.RuneSelf {
			if c >= ' ' && c != '"' && c != '\\' {
				i++
				continue
			}
			dst = append(dst, text[start:i]...)
			dst = appendEscape(dst, c)
			i++
			start = i
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		if r == utf8.RuneError && size == 1 {
			dst = append(dst, text[start:i]...)
			dst = fmt.Appendf(dst, `\udc%02x`, text[i])
			start = i + 1
		}
		i += size
	}
	dst = append(dst, text[start:]...)
	return append(dst, '"')
}

func appendEscape(dst []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\n':
		return append(dst, '\\', 'n')
	case '\r':
		return append(dst, '\\', 'r')
	case '\t':
		return append(dst, '\\', 't')
	}
	const hex = "0123456789abcdef"
	return append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
}

// escapeInvalid escapes the bytes of valid JSON that are not UTF-8, as Quote does.
// A byte above ASCII can only be inside a string, where an escape may stand.
func escapeInvalid(text string) json.RawMessage {
	if utf8.ValidString(text) {
		return json.RawMessage(text)
	}
	dst := make([]byte, 0, len(text)+16)
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		if r == utf8.RuneError && size == 1 {
			dst = fmt.Appendf(dst, `\udc%02x`, text[i])
		} else {
			dst = append(dst, text[i:i+size]...)
		}
		i += size
	}
	return dst
}
