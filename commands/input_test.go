package commands

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

func TestMessages(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want string // the messages, with blanks between them
		err  string
	}{
		"nothing":      {"", "", ""},
		"lines":        {"{\"n\":1}\n{\"n\":2}\n", `{"n":1} {"n":2}`, ""},
		"blank lines":  {"\n\n{}\n\n[1]\n", `{} [1]`, ""},
		"one by one":   {`{}{} {}`, `{} {} {}`, ""},
		"no newline":   {`{"a":"é"}`, `{"a":"é"}`, ""},
		"a mark":       {"\ufeff{}\n", `{}`, ""},
		"over lines":   {"{\n\"a\":\n1}\n", "{\n\"a\":\n1}", ""},
		"broken":       {"{}\n{}\n{\"a\" 1}\n{}", `{} {}`, `file: line 3 is not JSON: invalid character '1' after object key`},
		"broken first": {"x\n{}", ``, `file: line 1 is not JSON: invalid character 'x' looking for beginning of value`},
		"cut off":      {"{}\n{\"a\":\n", `{}`, `file: line 2 is not JSON: unexpected EOF`},
	} {
		for how, from := range map[string]io.Reader{
			"at once": strings.NewReader(c.text), "by bytes": iotest.OneByteReader(strings.NewReader(c.text)),
		} {
			if how == "by bytes" && name == "a mark" {
				continue // a pipe gives it whole
			}
			var got []string
			told := ""
			for m, err := range messages(t.Context(), from, "file") {
				if err != nil {
					told = err.Error()
					break
				}
				got = append(got, string(m))
			}
			if strings.Join(got, " ") != c.want || told != c.err {
				t.Errorf("%s, %s: got %q, %q; want %q, %q", name, how, got, told, c.want, c.err)
			}
		}
	}
}

func TestMessagesReadError(t *testing.T) {
	broken := errors.New("the disk is gone")
	for _, err := range messages(t.Context(), io.MultiReader(strings.NewReader("{}\n"), iotest.ErrReader(broken)), "file") {
		if err != nil && !errors.Is(err, broken) {
			t.Errorf("got %v", err)
		}
	}
}

func TestReadHeaders(t *testing.T) {
	for _, c := range []struct{ given, want string }{
		{"name=value", "name value"},
		{"Name=a=b", "name a=b"},
		{"empty=", "empty "},
		{"x-bin=aGk=", "x-bin hi"},
		{"x-bin=aGk", "x-bin hi"},
		{"x-bin=?", "--header x-bin: the value is not base64, want that for a name that ends in -bin"},
		{"name", `--header is "name", want NAME=VALUE with a name of letters, digits and -_.`},
		{"=value", `--header is "=value", want NAME=VALUE with a name of letters, digits and -_.`},
		{"a b=c", `--header is "a b=c", want NAME=VALUE with a name of letters, digits and -_.`},
		{"grpc-timeout=1", "--header grpc-timeout: names that begin with grpc- are gRPC's own"},
		{"name=é", `--header name: the value is "é", want printable ASCII; a name that ends in -bin takes base64 of anything`},
	} {
		pairs, err := readHeaders([]string{c.given})
		got := strings.Join(pairs, " ")
		if err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s: got %q, want %q", c.given, got, c.want)
		}
	}
}
