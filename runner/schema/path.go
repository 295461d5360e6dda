package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
)

// Path is the path of a file. Its JSON is that of [Quote], so bytes that are not UTF-8
// survive.
type Path string

func (p Path) MarshalJSON() ([]byte, error) { return Quote(string(p)), nil }

func (p *Path) UnmarshalJSON(value []byte) error {
	if value[0] != '"' {
		return json.Unmarshal(value, (*string)(p))
	}
	*p = Path(Unquote(value))
	return nil
}

// jsonEscape is a character that JSON escapes, two surrogates together.
var jsonEscape = regexp.MustCompile(`\\(u[dD][89abAB]..\\u[dD][c-fC-F]..|u....|.)`)

// Unquote returns the text of a JSON string. It is the reverse of [Quote]: a lone
// surrogate from \udc80 to \udcff becomes a byte. Any other lone surrogate becomes U+FFFD.
func Unquote(value []byte) []byte {
	var whole string
	if !bytes.Contains(value, []byte(`\ud`)) && json.Unmarshal(value, &whole) == nil {
		return []byte(whole)
	}
	inner := bytes.TrimSuffix(value[1:], []byte{'"'}) // the text itself may end in a quote
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
