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
		test.want.Typed = test.in
		got, err := ParseWords([]string{test.in}, readFile)
		if err != nil || len(got) != 1 || !sameWord(got[0], test.want) {
			t.Errorf("%q: got %+v, %v, want %+v", test.in, got, err, test.want)
		}
	}
}

// sameWord compares all but what reads a file later.
func sameWord(a, b Word) bool {
	a.read, b.read = nil, nil
	return reflect.DeepEqual(a, b)
}

func TestRespell(t *testing.T) {
	tests := []struct {
		in   string
		want Word
		err  string
	}{
		{"abc", Word{Value: "abc"}, ""},
		{"x-y=1=2", Word{Name: "x-y", Value: "1=2"}, ""},
		{"x-y:= [1] ", Word{Name: "x-y", Form: JSON, Value: "[1]"}, ""},
		{"x-y@=text", Word{Name: "x-y", Form: FileText, Value: "two\nlines\n"}, ""},
		{"x-y:=@json", Word{Name: "x-y", Form: JSON, Value: `{"a": 1}`}, ""},
		{"q-y=1", Word{Value: "q-y=1"}, ""},
		{"=x-y=1", Word{Form: Text, Value: "x-y=1"}, ""},
		{"n=1", Word{Name: "n", Value: "1"}, ""},
		{"x-y@=gone", Word{}, `argument "x-y@=gone": open gone: file does not exist`},
		{"x-y:=[", Word{}, `argument "x-y:=[": not JSON at byte 2: unexpected end of JSON input`},
	}
	for _, test := range tests {
		words, err := ParseWords([]string{test.in}, readFile)
		if err != nil {
			t.Fatal(err)
		}
		got, err := words[0].Respell(func(name string) bool { return name[0] == 'x' })
		test.want.Typed = test.in
		if test.err != "" && (err == nil || err.Error() != test.err) || test.err == "" && (err != nil || !sameWord(got, test.want)) {
			t.Errorf("%s: got %+v, %v, want %+v %s", test.in, got, err, test.want, test.err)
		}
	}
	if _, err := (Word{Typed: "x-y@=f"}).Respell(func(string) bool { return true }); err == nil {
		t.Error("without a reader: no error")
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

func TestTypes(t *testing.T) {
	tests := []struct{ typ, in, want string }{
		{"str", "2", `"2"`}, {"str", "null", `"null"`}, {"str", `"q"`, `"\"q\""`},
		{"int", "2", "2"}, {"int", "+007", "7"}, {"int", "-0", "0"}, {"int", "-12", "-12"}, {"int", " 5\n", "5"},
		{"int", "99999999999999999999", "99999999999999999999"},
		{"int", "2.0", ""}, {"int", "", ""}, {"int", "0x1", ""}, {"int", "-", ""}, {"int", "null", ""}, {"int", "٣", ""},
		{"float", "2", "2.0"}, {"float", "-.5", "-0.5"}, {"float", "5.", "5.0"}, {"float", "1e3", "1000.0"}, {"float", "1e300", "1e+300"}, {"float", "+01.50E-2", "0.015"},
		{"float", "nan", ""}, {"float", "inf", ""}, {"float", "1e999", ""}, {"float", ".", ""}, {"float", "1e", ""}, {"float", "1.2.3", ""},
		{"float", "0x1p3", ""}, {"float", "1_0", ""},
		{"bool", "true", "true"}, {"bool", "False", "false"}, {"bool", "YES", "true"}, {"bool", "no", "false"}, {"bool", "1", "true"},
		{"bool", "0", "false"}, {"bool", "maybe", ""}, {"bool", "", ""},
		{"Optional[int]", "null", "null"}, {"Optional[int]", "None", "null"}, {"typing.Optional[int]", "3", "3"}, {"Optional[int]", "x", ""},
		{"int | None", "None", "null"}, {"int|str", "x", `"x"`}, {"str | int", "5", `"5"`}, {"None | float", "1", "1.0"},
		{"Union[int, List[str], None]", "[1]", "[1]"}, {"Union[int, list]", "5", "5"}, {`"int"`, "07", "7"}, {`'int | None'`, "None", "null"},
		{`Optional["int"]`, "x", ""}, {"Annotated[int, Gt(0)]", "x", ""}, {"builtins.int", "x", ""},
		{`Literal["1", "2"]`, "1", `"1"`}, {"Literal[1, 2]", "1", "1"}, {"Literal[True]", "yes", "true"}, {`Literal["a|b", None]`, "None", "null"},
		{"NoneType", "x", `"x"`}, {"NoneType", "2", "2"}, {"", "2", "2"}, {"list[int]", "[1]", "[1]"}, {"dict", "x", `"x"`}, {"Path", "1.10", `"1.10"`},
		{strings.Repeat("Optional[", 1000), "2", "2"}, {"[", "2", "2"}, {"'", "2", "2"}, {"|", "2", "2"},
	}
	for _, test := range tests {
		h := Hook{Name: "f", Params: []Param{{Name: "a", Type: test.typ, Required: true, Kind: Ordinary}}}
		for _, word := range []Word{{Value: test.in}, {Name: "a", Value: test.in}} {
			got, err := Bind(h, []Word{word})
			if test.want == "" {
				var ae *ArgumentError
				want := fmt.Sprintf("a is %q, want %s", test.in, test.typ)
				if !errors.As(err, &ae) || ae.Place != "a" || err.Error() != want || ae.Hints()[0] != "the hook is "+h.Signature() {
					t.Errorf("%s %q: got %v, %v, want error %s", test.typ, test.in, got, err, want)
				}
				continue
			}
			if err != nil || text(got) != test.want && text(got) != "a="+test.want {
				t.Errorf("%s %q: got %s, %v, want %s", test.typ, test.in, text(got), err, test.want)
			}
		}
	}
}

// text writes arguments for comparing.
func text(a Arguments) string {
	var parts []string
	for _, p := range a.Positions {
		parts = append(parts, string(p))
	}
	for _, n := range a.Names {
		parts = append(parts, n.Name+"="+string(n.Value))
	}
	return strings.Join(parts, " ")
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

func TestBind(t *testing.T) {
	strict := Hook{Name: "strict", Params: []Param{{Name: "a", Required: true, Kind: PositionOnly}, {Name: "b", Required: true, Kind: Ordinary}}}
	tests := []struct {
		hook  Hook
		words string
		want  string
		place string // of the error
		hints string // of the error
	}{
		{greet, "Bob", `"Bob"`, "", ""},
		{greet, "7 2 loud=yes", `"7" 2 loud=true`, "", ""},
		{greet, "loud:=1 name=7", `loud=1 name="7"`, "", ""},
		{greet, ":={} times@=latin", `{} times="caf\udce9"`, "", ""},
		{greet, "", "name is missing, want greet(name: str, times: int = 1, *, loud: bool = False) -> str", "name", ""},
		{greet, "nmae=Bob", `no parameter "nmae", want greet(name: str, times: int = 1, *, loud: bool = False) -> str`, "nmae", "did you mean name?; to pass it as text, write =nmae=Bob"},
		{greet, "Bob name.first=x", `no parameter "name.first", want greet(name: str, times: int = 1, *, loud: bool = False) -> str`, "name.first", "to pass it as text, write =name.first=x"},
		{greet, "Bob 2 true", `unexpected value "true", want at most 2 by position: greet(name: str, times: int = 1, *, loud: bool = False) -> str`, "", "give loud by name: loud=VALUE"},
		{greet, "Bob name=Al", `name is given twice, by "Bob" and by "name=Al"`, "name", "the hook is " + greet.Signature()},
		{greet, "name=Al Bob", `name is given twice, by "name=Al" and by "Bob"`, "name", "the hook is " + greet.Signature()},
		{greet, "Bob times=x", `times is "x", want int`, "times", "the hook is " + greet.Signature()},
		{strict, "", `a and b are missing, want strict(a, /, b)`, "a", ""},
		{strict, "a=1 b=2", `a is given by name, want it by position: strict(a, /, b)`, "a", ""},
		{anything, "x 1 2 k=None a=5 c=6", `"x" 1 2 k=null a="5" c="6"`, "", ""},
		{anything, "x 1 y", `rest is "y", want int`, "rest", "the hook is " + anything.Signature()},
		{anything, "x more=1 rest=2", `"x" more="1" rest="2"`, "", ""},
		{anything, "x z=1 z=2", `z is given twice, by "z=1" and by "z=2"`, "z", "the hook is " + anything.Signature()},
		{Hook{Name: "none"}, "x", `unexpected value "x", want none by position: none()`, "", ""},
	}
	for _, test := range tests {
		words, err := ParseWords(strings.Fields(test.words), readFile)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Bind(test.hook, words)
		if err == nil {
			if text(got) != test.want {
				t.Errorf("%s %s: got %s, want %s", test.hook.Name, test.words, text(got), test.want)
			}
			continue
		}
		var ae *ArgumentError
		if !errors.As(err, &ae) || ae.Place != test.place || strings.Join(ae.Hints(), "; ") != test.hints || err.Error() != test.want {
			t.Errorf("%s %s: got %v (%+v), want %+v", test.hook.Name, test.words, err, ae, test)
		}
	}
}

func TestNoHookHints(t *testing.T) {
	for _, test := range []struct {
		err  NoHookError
		want string
	}{
		{NoHookError{Hook: "gret", Known: []string{"add", "greet"}}, "did you mean greet?"},
		{NoHookError{Hook: "xyz", Known: []string{"add", "greet"}}, "its hooks are add, greet"},
		{NoHookError{Hook: "xyz", Known: strings.Split("a1 b1 c1 d1 e1 f1 g1 h1 i1 j1 k1", " ")}, "its hooks are a1, b1, c1, d1, e1, f1, g1, h1, i1, j1, …"},
		{NoHookError{Hook: "xyz"}, ""},
	} {
		if got := strings.Join(test.err.Hints(), "; "); got != test.want {
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
		f.Add(seed, "Optional[int] | float")
	}
	f.Fuzz(func(t *testing.T, word, typ string) {
		words, err := ParseWords([]string{word, word}, func(string) ([]byte, error) { return []byte(word), nil })
		if err != nil {
			return
		}
		if !json.Valid(Value(word)) {
			t.Errorf("%q: %s is not JSON", word, Value(word))
		}
		hook := Hook{Name: "f", Params: []Param{{Name: "a", Type: typ, Kind: Ordinary}, {Name: "r", Kind: VarPositions}, {Name: "k", Type: typ, Kind: VarNames}}}
		for _, some := range [][]Word{words, words[:1]} {
			args, err := Bind(hook, some)
			if err != nil {
				_ = err.Error()
				continue
			}
			for _, p := range args.Positions {
				if !json.Valid(p) {
					t.Errorf("%q: %s is not JSON", word, p)
				}
			}
			for _, n := range args.Names {
				if !json.Valid(n.Value) {
					t.Errorf("%q: %s is not JSON", word, n.Value)
				}
			}
		}
		Suggest(word, []string{typ})
	})
}
