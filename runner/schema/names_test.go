package schema

import (
	"strings"
	"testing"
)

// TestCheckNames checks names without values. Names that only the plugin can decide are no errors.
func TestCheckNames(t *testing.T) {
	function := Hook{Name: "f", Params: []Param{{Name: "first", Kind: PositionOnly}, {Name: "dry_run", Type: "None | bool", Kind: Ordinary, Flag: true}, {Name: "n", Kind: NameOnly}}}
	open := Hook{Name: "f", Params: []Param{{Name: "rest", Kind: VarNames}}}
	method := Hook{Name: "KV/Put", Params: []Param{{Name: "user_name", Kind: NameOnly}, {Name: "labels", Type: "map<string, string>", Kind: NameOnly}}}
	for _, c := range []struct {
		hook        Hook
		words, want string // the error and the word that it is about
	}{
		{function, "--dry-run --n --nosuch --no-dry-run n:=1", ""},
		{function, "--n", "--n needs a value 0"},
		{function, "--dry-run --nosuch x", `no parameter "nosuch", expected f(first=..., /, dry_run: None | bool = ..., *, n=...) 2`},
		{function, "--n=1 m=2", `no parameter "m", expected f(first=..., /, dry_run: None | bool = ..., *, n=...) 2`},
		{function, "first=1", "first is given by name, expected it by position: f(first=..., /, dry_run: None | bool = ..., *, n=...) 0"},
		{open, "--any 1 other=2", ""},
		{method, "--user-name x userName=x labels.a-b=c", ""},
		{method, "--usr-name x", `no field "usr_name", expected one of user_name, labels 1`},
	} {
		words, err := ParseWords(strings.Fields(c.words), nil)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if bad, ok := c.hook.CheckNames(words).(*ArgumentError); ok {
			got = bad.Error() + " " + string(rune('0'+bad.Word))
		}
		if got != c.want {
			t.Errorf("%s: got %s, want %s", c.words, got, c.want)
		}
	}
}

func TestRemainingField(t *testing.T) {
	pair := Hook{Name: "KV/Put", Params: []Param{{Name: "key"}, {Name: "value"}}}
	for _, c := range []struct {
		hook        Hook
		words, want string
	}{
		{Hook{Name: "f", Params: pair.Params}, "", ""},
		{pair, "--key x", "value"},
		{pair, "value.of:=1", "key"},
		{pair, "", "KV/Put leaves key, value for the text of a line, expected exactly one field that no word sets"},
	} {
		words, err := ParseWords(strings.Fields(c.words), nil)
		if err != nil {
			t.Fatal(err)
		}
		got, err := c.hook.RemainingField(words)
		if err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s: got %s, want %s", c.words, got, c.want)
		}
	}
}
