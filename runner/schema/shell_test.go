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
		if got := quotePOSIX(in); got != want {
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
		words, err := splitLine(c.in, false)
		got := strings.Join(words, "|")
		if err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%q: got %q, want %q", c.in, got, c.want)
		}
	}
}

func TestQuoteWindows(t *testing.T) {
	for in, want := range map[string]string{
		"plain":           "plain",
		"":                `""`,
		`C:\bin\tool.exe`: `C:\bin\tool.exe`,
		"a b":             `"a b"`,
		"it's":            `"it's"`,
		`say "hi"`:        `"say ""hi"""`,
		`:={"a": 1}`:      `":={""a"": 1}"`,
		`C:\my dir\`:      `"C:\my dir\\"`,
		`a\"b`:            `"a\\""b"`,
		"a,b":             `"a,b"`,
		"@x":              `"@x"`,
		"%PATH%":          `"%PATH%"`,
		"ünï.py":          "ünï.py",
	} {
		if got := quoteWindows(in); got != want {
			t.Errorf("%q: got %s, want %s", in, got, want)
		}
	}
}

// TestSplitWindows checks that the backslashes of paths are kept.
func TestSplitWindows(t *testing.T) {
	for in, want := range map[string]string{
		`resize C:\pictures\new.png`: `resize|C:\pictures\new.png`,
		`resize "C:\my dir\"`:        `resize|C:\my dir\`,
		`resize 'C:\my dir\n' x`:     `resize|C:\my dir\n|x`,
		`say "a ""b"" c"`:            `say|a "b" c`,
		"greet\r\n  World":           "greet|World",
		`greet\`:                     `greet\`,
		`greet "World`:               `a " is not closed`,
	} {
		words, err := splitLine(in, true)
		got := strings.Join(words, "|")
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: got %s, want %s", in, got, want)
		}
	}
}

// FuzzSplitLine checks that splitting returns the UTF-8 words that quotePOSIX has quoted.
func FuzzSplitLine(f *testing.F) {
	f.Add("greet", "World", "")
	f.Add("it's", `a "b" \c`, "$(x) `y` *")
	f.Add("\n\t ", "'", `\`)
	f.Add(`'\''`, "ünï", "a=1")
	f.Fuzz(func(t *testing.T, a, b, c string) {
		a, b, c = strings.ToValidUTF8(a, "?"), strings.ToValidUTF8(b, "?"), strings.ToValidUTF8(c, "?")
		words := []string{a, b, c}
		line := strings.Join([]string{quotePOSIX(a), quotePOSIX(b), quotePOSIX(c)}, " ")
		got, err := splitLine(line, false)
		if err != nil || !slices.Equal(got, words) {
			t.Errorf("%s: got %q, %v, want %q", line, got, err, words)
		}
		_, _ = splitLine(a, false) // splits or rejects any text, without a panic
		_, _ = splitLine(a, true)
	})
}
