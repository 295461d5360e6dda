package schema

import (
	"slices"
	"strings"
	"testing"
)

func TestQuoteLine(t *testing.T) {
	for in, want := range map[string]string{
		"plain":         "plain",
		"":              "''",
		"a b":           "'a b'",
		"it's":          `'it'\''s'`,
		"$(x)":          "'$(x)'",
		"a=1":           "a=1",
		"=text":         "'=text'", // zsh expands it
		"ünï.py":        "ünï.py",
		"it's \xff\n\"": `$'it\'s \xff\n\"'`,
	} {
		if got := QuoteLine([]string{in}); got != want {
			t.Errorf("%q: got %s, want %s", in, got, want)
		}
	}
}

func TestSplitLine(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"", ""},
		{" \t\n ", ""},
		{"greet", "greet"},
		{"  greet  World ", "greet|World"},
		{"greet\tAda\nLovelace", "greet|Ada|Lovelace"},
		{`greet "Ada Lovelace"`, "greet|Ada Lovelace"},
		{`greet 'Ada Lovelace'`, "greet|Ada Lovelace"},
		{`greet Ada\ Lovelace`, "greet|Ada Lovelace"},
		{`name="Ada "'L.'`, "name=Ada L."},
		{`greet ""`, "greet|"},
		{`greet '' x`, "greet||x"},
		{`"it's" 'say "hi"'`, `it's|say "hi"`},
		{`"a\"b\\c\$d\` + "`" + `e"`, "a\"b\\c$d`e"},
		{`"a\b\n"`, `a\b\n`},
		{`'a\b\'`, `a\b\`},
		{`a\'b\"c\\d`, `a'b"c\d`},
		{`$HOME *.py ~ #x`, "$HOME|*.py|~|#x"},
		{`:='{"a": [1, 2]}'`, `:={"a": [1, 2]}`},
		{"Zoë\u00a0ü", "Zoë\u00a0ü"},
		{"a\\\nb \"c\\\nd\" '\\\n'", "ab|cd|\\\n"},
		{`greet --name 'Ada L' -- --x`, "greet|--name|Ada L|--|--x"},

		{`greet "World`, `a " is not closed`},
		{`greet 'World`, `a ' is not closed`},
		{`"a\"`, `a " is not closed`},
		{`greet World\`, "nothing follows the last backslash"},
	} {
		words, err := SplitLine(c.in)
		got := strings.Join(words, "|")
		if err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%q: got %q, want %q", c.in, got, c.want)
		}
	}
}

// FuzzSplitLine checks that SplitLine reads the UTF-8 that QuoteLine writes.
func FuzzSplitLine(f *testing.F) {
	f.Add("greet", "World", "")
	f.Add("it's", `a "b" \c`, "$(x) `y` *")
	f.Add("\n\t ", "'", `\`)
	f.Add(`'\''`, "ünï", "a=1")
	f.Fuzz(func(t *testing.T, a, b, c string) {
		words := []string{strings.ToValidUTF8(a, "?"), strings.ToValidUTF8(b, "?"), strings.ToValidUTF8(c, "?")}
		line := QuoteLine(words)
		got, err := SplitLine(line)
		if err != nil || !slices.Equal(got, words) {
			t.Errorf("%s: got %q, %v, want %q", line, got, err, words)
		}
		_, _ = SplitLine(a) // any text is accepted or rejected without a panic
	})
}
