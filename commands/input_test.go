package commands

import (
	"testing"
)

func TestCheckInput(t *testing.T) {
	for _, c := range []struct{ given, want string }{
		{"{}", "{}"},
		{"\ufeff \n[1]\n", "[1]"},
		{" \n", "it is empty, want a JSON object or array"},
		{"\n3", "it holds one value, want a JSON object (names) or array (positions)"},
		{"{bad}", "it is not JSON: line 1: invalid character 'b' looking for beginning of object key string"},
		{"\n\n{bad}", "it is not JSON: line 3: invalid character 'b' looking for beginning of object key string"},
		{"\ufeff\n{\n1}", "it is not JSON: line 3: invalid character '1' looking for beginning of object key string"},
		{"{\"a\": \"b\nc\"}", `it is not JSON: line 1: invalid character '\n' in string literal`},
		{"\n{\n\n", "it is not JSON: line 2: unexpected end of JSON input"},
		{"{\"a\": \"\xff\"}", "it is not UTF-8: byte 8 is 0xff"},
		{"\ufeff\n\"\xff\"", "it is not UTF-8: byte 6 is 0xff"},
	} {
		value, err := checkInput([]byte(c.given))
		got := string(value)
		if err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%q: got %s, want %s", c.given, got, c.want)
		}
	}
}

func TestReadHeaders(t *testing.T) {
	for _, c := range []struct{ given, want string }{
		{"name=value", "name value"},
		{"Name=a=b", "name a=b"},
		{"empty=", "empty "},
		{"name: value", "name value"},
		{"Name:value", "name value"},
		{"name: \ta=b: c ", "name a=b: c "},
		{"name=a:b", "name a:b"},
		{"empty:", "empty "},
		{"x-bin: aGk=", "x-bin hi"},
		{":path: /", `is ":path: /", want NAME=VALUE or "NAME: VALUE" with a name of letters, digits, and . - or _`},
		{"x-bin=aGk=", "x-bin hi"},
		{"x-bin=aGk", "x-bin hi"},
		{"x-bin=?", "has a value for x-bin that is not base64, which a name that ends in -bin needs"},
		{"name", `is "name", want NAME=VALUE or "NAME: VALUE" with a name of letters, digits, and . - or _`},
		{"=value", `is "=value", want NAME=VALUE or "NAME: VALUE" with a name of letters, digits, and . - or _`},
		{"a b=c", `is "a b=c", want NAME=VALUE or "NAME: VALUE" with a name of letters, digits, and . - or _`},
		{"grpc-timeout=1", "has the name grpc-timeout, which is gRPC's own"},
		{"User-Agent: me", "has the name user-agent, which is gRPC's own"},
		{"name=é", `has the value "é" for name, want printable ASCII; a name that ends in -bin takes base64 of anything`},
	} {
		name, value, err := parseHeader(c.given)
		got := name + " " + value
		if err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s: got %q, want %q", c.given, got, c.want)
		}
	}
}
