package settings

import "testing"

func TestParseHeader(t *testing.T) {
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
		{":path: /", `is ":path: /", expected NAME=VALUE or "NAME: VALUE" with a name of letters, digits, and . - or _`},
		{"x-bin=aGk=", "x-bin hi"},
		{"x-bin=aGk", "x-bin hi"},
		{"x-bin=?", "has a value for x-bin that is not base64, expected base64 for a name that ends in -bin"},
		{"name", `is "name", expected NAME=VALUE or "NAME: VALUE" with a name of letters, digits, and . - or _`},
		{"=value", `is "=value", expected NAME=VALUE or "NAME: VALUE" with a name of letters, digits, and . - or _`},
		{"a b=c", `is "a b=c", expected NAME=VALUE or "NAME: VALUE" with a name of letters, digits, and . - or _`},
		{"grpc-timeout=1", "has the name grpc-timeout, which is gRPC's own"},
		{"User-Agent: me", "has the name user-agent, which is gRPC's own"},
		{"name=é", `has the value "é" for name, expected printable ASCII; a name that ends in -bin takes base64 of anything`},
	} {
		name, value, err := ParseHeader(c.given)
		got := name + " " + value
		if err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s: got %q, want %q", c.given, got, c.want)
		}
	}
}
