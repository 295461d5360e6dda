package wire

import (
	"testing"
)

func TestParseInput(t *testing.T) {
	for _, c := range []struct{ given, want string }{
		{"{}", "{}"},
		{"\ufeff \n[1]\n", "[1]"},
		{" \n", "it is empty, expected a JSON object or array"},
		{"\n3", "it holds one value, expected a JSON object (names) or array (positions)"},
		{"{bad}", "it is not JSON: line 1: invalid character 'b' looking for beginning of object key string"},
		{"\n\n{bad}", "it is not JSON: line 3: invalid character 'b' looking for beginning of object key string"},
		{"\ufeff\n{\n1}", "it is not JSON: line 3: invalid character '1' looking for beginning of object key string"},
		{"{\"a\": \"b\nc\"}", `it is not JSON: line 1: invalid character '\n' in string literal`},
		{"\n{\n\n", "it is not JSON: line 2: unexpected end of JSON input"},
		{"{\"a\": \"\xff\"}", "it is not UTF-8: byte 8 is 0xff"},
		{"\ufeff\n\"\xff\"", "it is not UTF-8: byte 6 is 0xff"},
	} {
		value, err := ParseInput([]byte(c.given))
		got := string(value)
		if err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%q: got %s, want %s", c.given, got, c.want)
		}
	}
}
