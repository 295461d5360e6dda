package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"reflect"
	"strings"
	"testing"
)

var files = map[string]string{
	"text": "two\nlines\n", "json": "\uFEFF {\"a\": 1}\n", "latin": "caf\xe9", "bad": `{"a": }`, "-": "input",
}

func readFile(name string) ([]byte, error) {
	content, ok := files[name]
	if !ok {
		return nil, fmt.Errorf("open %s: %w", name, fs.ErrNotExist)
	}
	return []byte(content), nil
}

func TestParseWords(t *testing.T) {
	tests := []struct {
		in   string
		want Word
	}{
		{"abc", Word{Form: Plain, Value: "abc"}},
		{"", Word{Form: Plain}},
		{"-5", Word{Form: Plain, Value: "-5"}},
		{"name=Bob", Word{Name: "name", Value: "Bob"}},
		{"name=", Word{Name: "name"}},
		{"name==x", Word{Name: "name", Value: "=x"}},
		{"größe=2", Word{Name: "größe", Value: "2"}},
		{"नाम=x", Word{Name: "नाम", Value: "x"}},
		{"a.b_1.c=2", Word{Name: "a.b_1.c", Value: "2"}},
		{"a..b=2", Word{Value: "a..b=2"}},
		{"1a=2", Word{Value: "1a=2"}},
		{"a-b=2", Word{Value: "a-b=2"}},
		{"--a-b=2", Word{Name: "a-b", Value: "2"}},
		{"--a-b", Word{Name: "a-b", Form: Option}},
		{"--", Word{Form: Rest}},
		{"http://x?a=b", Word{Value: "http://x?a=b"}},
		{"http://x:=5", Word{Value: "http://x:=5"}},
		{"me@example.org@=x", Word{Value: "me@example.org@=x"}},
		{`{"a":"b=c"}`, Word{Value: `{"a":"b=c"}`}},
		{"=-x=1", Word{Form: Text, Value: "-x=1"}},
		{"=", Word{Form: Text}},
		{":=[1, 2]", Word{Form: JSON, Value: "[1, 2]"}},
		{"n:= 7 ", Word{Name: "n", Form: JSON, Value: "7"}},
		{"n:=123456789012345678901234567890", Word{Name: "n", Form: JSON, Value: "123456789012345678901234567890"}},
		{"n:=@json", Word{Name: "n", Form: JSON, Value: `{"a": 1}`}},
		{":=@json", Word{Form: JSON, Value: `{"a": 1}`}},
		{"t@=text", Word{Name: "t", Form: FileText, Value: "two\nlines\n"}},
		{"@=text", Word{Form: FileText, Value: "two\nlines\n"}},
		{"t@=-", Word{Name: "t", Form: FileText, Value: "input"}},
	}
	for _, test := range tests {
		test.want.Typed, test.want.Number = test.in, 1
		got, err := ParseWords([]string{test.in}, readFile)
		if err != nil || len(got) != 1 || !reflect.DeepEqual(got[0], test.want) {
			t.Errorf("%q: got %+v, %v, want %+v", test.in, got, err, test.want)
		}
	}
}

// TestDecide checks that the parameters decide the meaning of a word after --name or "--".
func TestDecide(t *testing.T) {
	flags := map[string]bool{"plan": false, "dry-run": true, "color": true, "no-color": false, "seat": false}
	for line, want := range map[string]string{
		"":                           "",
		"a b=c =d :=1":               "a|b=c|=d|:=1",
		"--plan pro x":               "plan=pro|x",
		"--plan=pro=x --plan=":       "plan=pro=x|plan=",
		"--plan --dry-run --dry-run": "plan=--dry-run|dry-run=true",
		"--dry-run x --no-dry-run":   "dry-run=true|x|dry-run=false",
		"--no_dry-run":               "dry-run=false",
		"--no-color x --no-plan y":   "no-color=x|no-plan=y",
		"--dry-run=no":               "dry-run=no",
		"-- --plan x=1 -- :=[":       "=--plan|=x=1|=--|=:=[",
		"--plan -- x=1 -- y=1":       "plan=--|x=1|=y=1",
		"--dry-run -- x=1 :=[":       "dry-run=true|=x=1|=:=[",
		"--plan :=[ --plan a@=gone":  "plan=:=[|plan=a@=gone",
		"--plan x@=text":             "plan=x@=text",
		"--dry-run :=1 -5 -x":        "dry-run=true|:=1|-5|-x",
		"--else --plan":              "else=--plan",
		"--else":                     "else=true",
		"--=x ---":                   "--=x|-=true",

		"--plan":             "--plan needs a value",
		"--dry-run :=[":      `argument ":=[": not JSON at byte 2: unexpected end of JSON input`,
		"--dry-run t@=text":  `argument "t@=text": --dry-run may take this word as its value, so the file is not read: put the word before --dry-run`,
		"--plan -- t:=@json": `argument "t:=@json": --plan may take this word as its value, so the file is not read: put the word before --plan`,
	} {
		words, err := ParseWords(strings.Fields(line), readFile)
		if err == nil {
			words, err = Decide(words, func(name string) (known, is bool) {
				is, known = flags[name]
				return known, is
			})
		}
		var got []string
		for _, w := range words {
			got = append(got, w.Name+[]string{Plain: "=", Text: "=", JSON: ":="}[w.Form]+w.Value)
			if w.Name == "" && w.Form == Plain {
				got[len(got)-1] = w.Value
			}
		}
		text := strings.Join(got, "|")
		if err != nil {
			text = err.Error()
		}
		if text != want {
			t.Errorf("%q: got %s, want %s", line, text, want)
		}
	}
}

func TestParseWordsErrors(t *testing.T) {
	tests := []struct{ in, want string }{
		{"n:=", `argument "n:=": not JSON at byte 1: unexpected end of JSON input`},
		{"n:=[1,", `argument "n:=[1,": not JSON at byte 4: unexpected end of JSON input`},
		{"n:=Bob", `argument "n:=Bob": not JSON at byte 1: invalid character 'B' looking for beginning of value`},
		{"n:=1 2", `argument "n:=1 2": not JSON at byte 3: invalid character '2' after top-level value`},
		{"n:=NaN", `argument "n:=NaN": not JSON at byte 1: invalid character 'N' looking for beginning of value`},
		{"n:=@bad", `argument "n:=@bad": "bad": not JSON at byte 7: invalid character '}' looking for beginning of value`},
		{"n@=gone", `argument "n@=gone": open gone: file does not exist`},
		{"n@=", `argument "n@=": open : file does not exist`},
	}
	for _, test := range tests {
		_, err := ParseWords([]string{test.in}, readFile)
		var we *ArgumentError
		if !errors.As(err, &we) || err.Error() != test.want {
			t.Errorf("%q: got %v, want %s", test.in, err, test.want)
		}
	}
	if _, err := ParseWords([]string{"n@=gone"}, readFile); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the reader's error is lost: %v", err)
	}
	if _, err := ParseWords([]string{"n:=@json"}, nil); err == nil || err.Error() != `argument "n:=@json": a file cannot be read here` {
		t.Errorf("without a reader: %v", err)
	}
}

func TestValue(t *testing.T) {
	asIs := []string{
		"2", "-5", "0", "1.5", "-0.5", "0.0", "-0.0", "1.0", "1e+16", "1e-07", "true", "false", "null",
		"123456789012345678901234567890", `{"a":1}`, "[]", `"quoted"`, "[1.10,1e3]",
	}
	for _, in := range asIs {
		if got := string(Value(in)); got != in {
			t.Errorf("%s: got %s, want it as it is", in, got)
		}
	}
	text := map[string]string{
		"1.10": `"1.10"`, "00123": `"00123"`, "1e3": `"1e3"`, "1E+16": `"1E+16"`, "-0": `"-0"`, "+1": `"+1"`, "1.": `"1."`,
		".5": `".5"`, "": `""`, " ": `" "`, "True": `"True"`, "None": `"None"`, "nan": `"nan"`, "Infinity": `"Infinity"`,
		"0x10": `"0x10"`, "1_000": `"1_000"`, "{a}": `"{a}"`, "[1,": `"[1,"`, "-": `"-"`, " 2": `" 2"`, "1e999": `"1e999"`,
		"123456789012345678.5": `"123456789012345678.5"`, "a<b>&\u2028": "\"a<b>&\u2028\"", "tab\tnew\nnul\x00": `"tab\tnew\nnul\u0000"`,
		`say "hi" \o/`: `"say \"hi\" \\o/"`, "\x80\xff": `"\udc80\udcff"`, "\xed\xa0\x80": `"\udced\udca0\udc80"`,
		"[\"\x80\"]": `["\udc80"]`, "é\u007f😀": "\"é\u007f😀\"", "\u00a02": "\"\u00a02\"",
	}
	for in, want := range text {
		if got := Value(in); string(got) != want || !json.Valid(got) {
			t.Errorf("%q: got %s, want %s", in, got, want)
		}
	}
}

var greet = Hook{Name: "greet", Returns: "str", Params: []Param{
	{Name: "name", Type: "str", Required: true, Kind: Ordinary},
	{Name: "times", Type: "int", Default: "1", Kind: Ordinary},
	{Name: "loud", Type: "bool", Default: "False", Kind: NameOnly},
}}

var anything = Hook{Name: "any", Params: []Param{
	{Name: "a", Required: true, Kind: PositionOnly}, {Name: "rest", Type: "int", Kind: VarPositions},
	{Name: "k", Type: "int", Default: "None", Kind: NameOnly}, {Name: "more", Type: "str", Kind: VarNames},
}}

func TestNoHookHints(t *testing.T) {
	for _, test := range []struct {
		err  NoHookError
		want []Hint
	}{
		{NoHookError{Hook: "gret", Known: []string{"add", "greet"}}, Hints("did you mean %s?", "greet")},
		{NoHookError{Hook: "xyz", Known: []string{"add", "greet"}}, Hints("use one of its hooks: %s", "add, greet")},
		{NoHookError{Hook: "xyz", Known: strings.Split("a1 b1 c1 d1 e1 f1 g1 h1 i1 j1 k1", " ")}, Hints("use one of its hooks: %s", "a1, b1, c1, d1, e1, f1, g1, h1, i1, j1, …")},
		{NoHookError{Hook: "xyz"}, nil},
	} {
		if got := test.err.Hints(); !reflect.DeepEqual(got, test.want) {
			t.Errorf("%v: got %q, want %q", test.err, got, test.want)
		}
	}
}

func TestSignature(t *testing.T) {
	tests := []struct {
		hook Hook
		want string
	}{
		{greet, "greet(name: str, times: int = 1, *, loud: bool = False) -> str"},
		{anything, "any(a, /, *rest: int, k: int = None, **more: str)"},
		{Hook{Name: "f"}, "f()"},
		{Hook{Name: "S/F", Params: []Param{{Name: "fields", Type: "message p.V", Kind: VarNames}}, Returns: "p.E{}"}, "S/F(**fields: p.V) -> p.E"},
		{Hook{Name: "f", Params: []Param{{Name: "a", Kind: PositionOnly, Required: true}}}, "f(a, /)"},
		{Hook{Name: "f", Params: []Param{{Name: "a", Kind: PositionOnly, Required: true}, {Name: "k", Kind: NameOnly}}}, "f(a, /, *, k=...)"},
		{Hook{Name: "f", Params: []Param{{Name: "a", Kind: Ordinary, Default: strings.Repeat("é", 70)}}}, "f(a=" + strings.Repeat("é", 60) + "…)"},
	}
	for _, test := range tests {
		if got := test.hook.Signature(); got != test.want {
			t.Errorf("got %s, want %s", got, test.want)
		}
		if got := test.hook.ShortSignature(); got != test.want {
			t.Errorf("short: got %s, want %s", got, test.want)
		}
	}
	long := Hook{Name: strings.Repeat("é", 300)}
	if got, want := long.ShortSignature(), strings.Repeat("é", 200)+"…"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestSuggest(t *testing.T) {
	known := []string{"greet", "great", "run", "größe", "status"}
	tests := map[string]string{
		"gerat": "great", "gret": "greet", "Greet": "greet", "rnu": "run", "ru": "run", "xyz": "", "": "", "grösse": "größe",
		"sttaus": "status", "stop": "", strings.Repeat("x", 1000): "",
	}
	for in, want := range tests {
		if got := Suggest(in, known); got != want {
			t.Errorf("%s: got %q, want %q", in, got, want)
		}
	}
	if got := Suggest("greet", []string{"greet"}); got != "" {
		t.Errorf("got %q for what is known", got)
	}
}

func FuzzWords(f *testing.F) {
	for _, seed := range []string{"a", "name=1.10", "=x", ":={}", "a.b:=[1]", "x@=f", "n:=@f", "\xff=\x80", "1e3", `"q"`, "[\"\xff\"]", "-0.0", "{\"\\\xff\":1}"} {
		f.Add(seed, "name")
	}
	f.Fuzz(func(t *testing.T, word, known string) {
		words, err := ParseWords([]string{word, word}, func(string) ([]byte, error) { return []byte(word), nil })
		if err != nil {
			return
		}
		if !json.Valid(Value(word)) {
			t.Errorf("%q: %s is not JSON", word, Value(word))
		}
		if words[0].Form == JSON && !json.Valid(AppendJSON(nil, words[0].Value)) {
			t.Errorf("%q: %s is not JSON", word, AppendJSON(nil, words[0].Value))
		}
		Suggest(word, []string{known})
	})
}

// FuzzWithoutPlain checks that removing the plain characters of strings does not change whether a
// text is valid JSON.
func FuzzWithoutPlain(f *testing.F) {
	for _, seed := range []string{
		`"\u12"`, `["\x", "a\u0061b", "`, "[\"\x00\"]", `{"a": [1, "\u00e9\\\"", true], "b\n" : {}}`, `{"\"":"\\", ",":":"}`,
		`["0123456789abcdef"]`, "[\"0123456789\x1f12345678\"]", `["Grüße 😀 aus 1234567 \n 89012345678"]`, `["0123456789\q12345678"]`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if got, want := json.Valid(withoutPlain(text)), json.Valid(text); got != want {
			t.Fatalf("%q is valid: %t, want %t", text, got, want)
		}
	})
}
