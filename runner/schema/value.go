package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode/utf16"
	"unicode/utf8"
)

// Value returns the JSON of a VALUE whose parameter has no type. An object, an array or a quoted
// string in JSON stays JSON. So do true, false and null, and a number that Python writes the same
// way (2 and 0.5, but not 1.10, 00123 and 1e3). Any other text is a string.
func Value(text string) json.RawMessage {
	trimmed := strings.Trim(text, " \t\r\n")
	switch {
	case trimmed == "":
	case strings.IndexByte(`{["`, trimmed[0]) >= 0:
		if json.Valid([]byte(trimmed)) {
			return AppendJSON(nil, trimmed)
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
	if strings.Trim(digits, "0123456789") == "" {
		return digits[0] != '0' || text == "0"
	}
	f, err := strconv.ParseFloat(text, 64)
	return err == nil && pythonFloat(f) == text
}

// pythonFloat returns Python's repr of a finite float.
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

// ParseBool accepts true, false, yes, no, on and off in any case, and 1 and 0.
func ParseBool(text string) (json.RawMessage, bool) {
	switch strings.ToLower(strings.TrimSpace(text)) {
	case "true", "yes", "on", "1":
		return json.RawMessage("true"), true
	case "false", "no", "off", "0":
		return json.RawMessage("false"), true
	}
	return nil, false
}

// Quote returns text as a JSON string. Bytes that are not UTF-8 become \udc80 to \udcff, as Python
// reads such arguments and file names (surrogateescape), so nothing is lost.
func Quote(text string) json.RawMessage {
	return AppendQuote(make([]byte, 0, len(text)+2), text)
}

// AppendQuote appends the result of [Quote] to dst.
func AppendQuote(dst []byte, text string) []byte {
	return append(AppendJSON(append(dst, '"'), escapes().Replace(text)), '"')
}

// escapes replaces the characters that a JSON string cannot contain.
var escapes = sync.OnceValue(func() *strings.Replacer {
	pairs := []string{`"`, `\"`, `\`, `\\`, "\n", `\n`, "\r", `\r`, "\t", `\t`}
	for c := range ' ' { // if a character has two pairs, the first counts
		pairs = append(pairs, string(c), fmt.Sprintf(`\u%04x`, c))
	}
	return strings.NewReplacer(pairs...)
})

// AppendJSON appends JSON to dst, and escapes bytes that are not UTF-8 as [Quote] does. In
// JSON such bytes can only be inside a string.
func AppendJSON(dst []byte, text string) []byte {
	if utf8.ValidString(text) {
		return append(dst, text...)
	}
	for i, r := range text {
		if _, size := utf8.DecodeRuneInString(text[i:]); r == utf8.RuneError && size == 1 {
			dst = fmt.Appendf(dst, `\udc%02x`, text[i])
		} else {
			dst = utf8.AppendRune(dst, r)
		}
	}
	return dst
}

// Path is the path of a file. Its JSON has the form of [Quote], which keeps bytes that are not
// UTF-8.
type Path string

func (p Path) MarshalJSON() ([]byte, error) { return Quote(string(p)), nil }

func (p *Path) UnmarshalJSON(value []byte) error {
	if value[0] != '"' {
		return json.Unmarshal(value, (*string)(p))
	}
	*p = Path(Unquote(value))
	return nil
}

// jsonEscape matches an escaped character in JSON, or a pair of surrogates.
var jsonEscape = regexp.MustCompile(`\\(u[dD][89abAB]..\\u[dD][c-fC-F]..|u....|.)`)

// Unquote returns the text of a JSON string. It is the reverse of [Quote]: a lone
// surrogate from \udc80 to \udcff becomes a byte. Any other lone surrogate becomes U+FFFD.
func Unquote(value []byte) []byte {
	inner := bytes.TrimSuffix(value[1:], []byte{'"'}) // the text itself may end in a quote
	var whole string
	switch {
	case bytes.IndexByte(inner, '\\') < 0:
		return bytes.Clone(inner)
	case !bytes.Contains(inner, []byte(`\ud`)) && json.Unmarshal(value, &whole) == nil:
		return []byte(whole)
	}
	return jsonEscape.ReplaceAllFunc(inner, func(escape []byte) []byte {
		if unit, err := strconv.ParseUint(string(escape[2:]), 16, 16); err == nil && unit >= 0xdc80 && unit <= 0xdcff {
			return []byte{byte(unit)}
		}
		var text string
		if json.Unmarshal(fmt.Appendf(nil, `"%s"`, escape), &text) != nil {
			return escape
		}
		return []byte(text)
	})
}

// LoneSurrogate returns the first escape in a valid JSON string that is half a surrogate pair, or
// "". encoding/json replaces such an escape.
func LoneSurrogate(quoted []byte) string {
	if !bytes.Contains(quoted, []byte(`\ud`)) && !bytes.Contains(quoted, []byte(`\uD`)) { // nearly always true
		return ""
	}
	for _, escape := range jsonEscape.FindAll(quoted, -1) {
		if unit, err := strconv.ParseUint(string(escape[2:]), 16, 16); err == nil && utf16.IsSurrogate(rune(unit)) {
			return string(escape)
		}
	}
	return ""
}
