package wire_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/hook/wire"
	"github.com/pyplug/pyplug/runner/proc"
	"github.com/pyplug/pyplug/runner/pyworker"
	"github.com/pyplug/pyplug/runner/runnertest"
	"github.com/pyplug/pyplug/runner/schema"
)

// smuggled is a value that, copied into a frame, would end there and add another call.
const smuggled = `1}],"hook":"other","words":[],"x":[{"value":1`

// badWords maps bodies that are rejected to the beginning of the error.
var badWords = map[string]string{
	``:                                  "the body is not JSON: byte 1: ",
	`{"words":[`:                        "the body is not JSON: byte 11: ",
	"{\"words\":[{\"text\":\"\xff\"}]}": "the body is not UTF-8: byte 20 is 0xff",
	`[]`:                                "the body is [], expected {",
	`{}`:                                `the body is {}, expected {`,
	`{"wordz":[]}`:                      `the body is {"wordz":[]}, expected {`,
	`{"words":[],"hook":"other"}`:       `the body is {"words":[],"hook":"other"}, expected {`,
	`{"words":[],"args":1}`:             `"args" is 1, expected an object (names) or an array (positions)`,
	`{"words":null}`:                    `the body is {"words":null}, expected {`,
	`{"words":[{"text":"a"},null]}`:     `words[1] is null, expected "typed"`,
	`{"words":["a"]}`:                   `words[0] is "a", expected "typed"`,
	`{"words":[{}]}`:                    `words[0] is {}, expected "typed"`,
	`{"words":[{"name":"a"}]}`:          `words[0] is {"name":"a"}, expected "typed"`,
	`{"words":[{"text":"a","json":1}]}`: `words[0] is {"text":"a","json":1}, expected "typed"`,
	`{"words":[{"text":"a","base64":"YQ=="}]}`:                        `words[0] is {"text"`,
	`{"words":[{"text":"a","name":"n","form":"typed"}]}`:              `words[0].form is "typed", expected a word without "name"`,
	`{"words":[{"json":1,"form":"typed"}]}`:                           `words[0].form is "typed", expected json with "json"`,
	`{"words":[{"typed":"a","form":"text"}]}`:                         `words[0] is {"typed"`,
	`{"words":[{"text":"a","file":"YQ=="}]}`:                          `words[0] is {"text"`,
	`{"words":[{"text":"a","more":1}]}`:                               `words[0] is {"text"`,
	`{"words":[{"text":null}]}`:                                       `words[0] is {"text":null}, expected `,
	`{"words":[{"typed":null}]}`:                                      `words[0] is {"typed":null}, expected `,
	`{"words":[{"text":1}]}`:                                          `words[0] is {"text":1}, expected `,
	`{"words":[{"text":"a\ud800b"}]}`:                                 `words[0] has the lone surrogate \ud800, `,
	`{"words":[{"typed":"\\\udC00\ud800"}]}`:                          `words[0] has the lone surrogate \udC00, `,
	`{"words":[{"text":"\ud800\ud800"}]}`:                             `words[0] has the lone surrogate \ud800, `,
	`{"words":[{"text":"a","name":"\udfff"}]}`:                        `words[0] has the lone surrogate \udfff, `,
	`{"words":[{"text":"a","name":""}]}`:                              "words[0].name is empty",
	`{"words":[{"base64":"?"}]}`:                                      `words[0] is {"base64":"?"}, expected `,
	`{"words":[{"text":"1"},{"json":1},{"text":"a","form":"JSON"}]}`:  `words[2].form is "JSON", expected one of value, text, json, file`,
	`{"words":[{"json":1,"form":"text"}]}`:                            `words[0].form is "text", expected json with "json"`,
	`{"words":[{"form":"json","text":"a"}]}`:                          "words[0] is not JSON: byte 1: ",
	`{"words":[{"form":"json","text":""}]}`:                           "words[0] is not JSON: byte 1: ",
	`{"words":[{"form":"json","base64":"YQ=="}]}`:                     "words[0] is not JSON: byte 1: ",
	`{"words":[{"form":"json","text":` + quote(smuggled) + `}]}`:      "words[0] is not JSON: byte 2: ",
	`{"words":[{"typed":` + quote(":="+smuggled) + `}]}`:              "words[0]: argument ",
	`{"words":[{"typed":"a@=b"}]}`:                                    `words[0]: argument "a@=b": a file cannot be read here`,
	`{"words":[{"typed":":=@a","file":"YQ=="}]}`:                      `words[0]: argument ":=@a": "a": not JSON at byte 1: `,
	`{"words":[{"typed":"a@=b","file":"?"}]}`:                         `words[0] is {"typed"`,
	`{"words":[{"typed":"` + strings.Repeat("é", 1000) + `@=b"}]}`:    "words[0]: argument ",
	`{"words":[` + strings.Repeat("[", 20000):                         "the body is not JSON: byte ",
	`{"words":[{"json":` + strings.Repeat("[", 20000) + `}]}`:         "the body is not JSON: byte ",
	`{"words":[{"text":"a"}]}{"words":[{"text":"a"}]}`:                "the body is not JSON: byte 25: ",
	`{"words":[{"text":"a"}],"words":[{"text":"a","` + "x" + `":1}]}`: `the body: "words" is given twice`,
	`{"words":[{"text":"a","text":"b"}]}`:                             `words[0]: "text" is given twice`,
	`{"words":[{"typed":"a","\u0074yped":"b"}]}`:                      `words[0]: "typed" is given twice`,
	`{"words":[{"TYPED":"a"}]}`:                                       `words[0] is {"TYPED":"a"}, expected "typed"`,
	`{"words":[{"text":"a","Name":"n"}]}`:                             `words[0] is {"text":"a","Name":"n"}, expected "typed"`,
	`{"words":[{"text":"a"}],"ARGS":{"b":1}}`:                         `the body is {"words":[{"text":"a"}],"ARGS"`,
	`{"words":[{"text":"a"}],"args":[],"args":[1]}`:                   `the body: "args" is given twice`,
}

// goodWords maps bodies to the words that the plugin receives.
var goodWords = map[string]string{
	`{"words":[]}`: `[]`,
	" {\"words\" : [ { \"text\" : \"a\\ud83d\\ude00\\\\ud800\" , \"name\" : \"n\" } ] }\n": `[{"name":"n","text":"a😀\\ud800"}]`,
	`{"words":[{"typed":""},{"text":""},{"base64":""}]}`:                                   `[{"text":""},{"text":""},{"text":""}]`,
	`{"words":[{"typed":"n:={\"a\":1}"}]}`:                                                 `[{"name":"n","json":{"a":1}}]`,
	`{"words":[{"json":null},{"json":1,"form":"json"},{"json":"\ud800","name":"n"}]}`:      `[{"json":null},{"json":1},{"name":"n","json":"\ud800"}]`,
	`{"words":[{"text":"2"},{"text":"2","form":"text"},{"text":" [2] ","form":"json"}]}`:   `[{"text":"2","value":2},{"text":"2","value":2,"form":"text"},{"json": [2] }]`,
	`{"words":[{"base64":"/w=="},{"base64":"Iv8i","form":"json"}]}`:                        `[{"text":"\udcff"},{"json":"\udcff"}]`,
	`{"words":[{"text":` + quote(smuggled) + `}]}`:                                         `[{"text":` + quote(smuggled) + `}]`,
	`{"words":[{"text":"--a","form":"typed"},{"base64":"Yj3/","form":"typed"}]}`:           `[{"name":"a","typed":"--a","form":"option"},{"name":"b","typed":"b=\udcff","text":"\udcff"}]`,
	`{"words":[{"typed":"n@=f","file":"YQ=="}]}`:                                           `[{"name":"n","text":"a","form":"file"}]`,
}

func quote(text string) string { return string(schema.Quote(text)) }

// TestDecodeWords checks that a body with words is read as docs/http.md says, or is an error that
// names the place.
func TestDecodeWords(t *testing.T) {
	for body, want := range badWords {
		args, err := wire.DecodeArgs([]byte(body), true)
		if err == nil || !strings.HasPrefix(err.Error(), want) || len(err.Error()) > 1000 {
			t.Errorf("%.200s: %+v, %v, want %s", body, args, err, want)
		}
	}
	for body, want := range goodWords {
		args, err := wire.DecodeArgs([]byte(body), true)
		if got := string(wire.AppendWords(nil, args.Words)); err != nil || got != want {
			t.Errorf("%s: %s, %v, want %s", body, got, err, want)
		}
	}
}

// TestAppendWords checks that words for a worker have the documented keys. A text such as 2 also has
// the key "value": the number that a parameter without a type gets in place of the text.
func TestAppendWords(t *testing.T) {
	read := func(name string) ([]byte, error) {
		return []byte(map[string]string{"latin": "caf\xe9", "json": `{"a": 1}`}[name]), nil
	}
	tests := []struct{ in, want string }{
		{"Bob", `{"text":"Bob"}`},
		{"2", `{"text":"2","value":2}`},
		{`{"a":[1.10]}`, `{"text":"{\"a\":[1.10]}","value":{"a":[1.10]}}`},
		{"n=1.10", `{"name":"n","text":"1.10"}`},
		{"n=null", `{"name":"n","text":"null","value":null}`},
		{"=2", `{"text":"2","value":2,"form":"text"}`},
		{"=a=b", `"a=b"`},
		{"n@=latin", `{"name":"n","text":"caf\udce9","form":"file"}`},
		{"größe:= [1, 2]", `{"name":"größe","json":[1, 2]}`},
		{":=@json", `{"json":{"a": 1}}`},
	}
	for _, test := range tests {
		words, err := schema.ParseWords([]string{test.in, "x"}, read)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := string(wire.AppendWords(nil, words)), "["+test.want+`,{"text":"x"}]`; got != want || !json.Valid([]byte(got)) {
			t.Errorf("%s: got %s, want %s", test.in, got, want)
		}
	}
	if got := string(wire.AppendWords(nil, nil)); got != "[]" {
		t.Errorf("got %s for no words", got)
	}
}

// TestAppendOpenWords checks that a word whose form depends on the parameters has all its possible
// meanings.
func TestAppendOpenWords(t *testing.T) {
	for line, want := range map[string]string{
		"--a 5 b=2":    `{"name":"a","typed":"--a","form":"option"},{"text":"5","value":5},{"name":"b","text":"2","value":2}`,
		"--a b=2":      `{"name":"a","typed":"--a","form":"option"},{"name":"b","typed":"b=2","text":"2","value":2}`,
		"--a b@=f":     `{"name":"a","typed":"--a","form":"option"},{"name":"b","typed":"b@=f","fault":"argument \"b@=f\": --a may take this word as its value, so the file is not read: put the word before --a"}`,
		"--a -- :=[":   `{"name":"a","typed":"--a","form":"option"},{"typed":"--","form":"rest"},{"typed":":=[","fault":"argument \":=[\": not JSON at byte 2: unexpected end of JSON input"}`,
		"-- :=[ --a":   `{"form":"rest"},":=[","--a"`,
		"--a-b=c --a ": `{"name":"a-b","typed":"--a-b=c","text":"c"},{"name":"a","typed":"--a","form":"option"}`,
	} {
		words, err := schema.ParseWords(strings.Fields(line), os.ReadFile)
		if err != nil {
			t.Fatal(err)
		}
		if got := string(wire.AppendWords(nil, words)); got != "["+want+"]" || !json.Valid([]byte(got)) {
			t.Errorf("%s: got %s, want %s", line, got, want)
		}
		args, err := wire.DecodeArgs(wire.EncodeWords(hook.Args{Words: words, JSON: []byte(`{"x":1}`)}), true)
		if again := string(wire.AppendWords(nil, args.Words)); err != nil || again != "["+want+"]" || string(args.JSON) != `{"x":1}` {
			t.Errorf("%s: over the socket %s, %v", line, again, err)
		}
	}
}

// FuzzTexts passes any text that a shell can pass to a hook of a live worker, with -- "$v" and with
// "=$v", directly and over the socket. The hook receives the same text.
func FuzzTexts(f *testing.F) {
	for _, v := range []string{"", "--", "--json", "-q", "a=b", "=odd", ":=[", "@=f", "a@=-", ":=@f", "null", "[1]", "2", "\xff", "a=\xff", "é\n", "--help", "--take=1"} {
		f.Add(v)
	}
	inst := live(f, "def take(v: str):\n    return v\n\n\ndef untyped(v):\n    return v\n")
	f.Fuzz(func(t *testing.T, v string) {
		if strings.ContainsRune(v, 0) {
			return
		}
		for _, typed := range [][]string{{"--", v}, {"=" + v}, {"--v", v}} {
			words, err := schema.ParseWords(typed, nil)
			if err != nil {
				t.Fatal(err)
			}
			args, err := wire.DecodeArgs(wire.EncodeWords(hook.Args{Words: words}), true)
			if err != nil {
				t.Fatal(err)
			}
			for _, args := range []hook.Args{{Words: words}, args} {
				for _, name := range []string{"take", "untyped"} {
					r, err := inst.Call(t.Context(), hook.Call{Hook: name, Args: args})
					if typed[0] == "--v" && name == "untyped" { // as JSON the text may have another value
						continue
					}
					if err != nil || string(schema.Unquote(r.Value)) != v {
						t.Fatalf("%s %q: %s, %v", name, typed, r.Value, err)
					}
				}
			}
		}
	})
}

// live starts a worker for a file with this source.
func live(f *testing.F, source string) hook.Instance {
	plugin := filepath.Join(f.TempDir(), "plugin.py")
	if err := os.WriteFile(plugin, []byte(source), 0o600); err != nil {
		f.Fatal(err)
	}
	inst, err := pyworker.New(pyworker.Config{Python: runnertest.Python(f), Plugin: plugin, Env: proc.Environ(os.Environ(), false, nil)}).Launch(f.Context())
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() {
		_ = inst.Stop(f.Context())
		proc.Close()
	})
	return inst
}

// FuzzWords calls a hook of a live worker with any words. The worker survives, and never calls
// another hook.
func FuzzWords(f *testing.F) {
	for body := range badWords {
		f.Add(body)
	}
	for body := range goodWords {
		f.Add(body)
	}
	for _, body := range []string{`{"words":[{"typed":"--a"},{"json":1},{"typed":"--"},{"typed":"x=1"},{"base64":"/w=="}],"args":{"a":1}}`,
		`{"words":[{"typed":"--a"},{"form":"typed","base64":"LS0="},{"typed":"b@=f","file":"YQ=="}],"args":[1]}`} {
		f.Add(body)
	}
	inst := live(f, "def take(*args, flag=False, **kwargs):\n    return 'take'\n\n\ndef other(*args, **kwargs):\n    return 'other'\n")
	f.Fuzz(func(t *testing.T, body string) {
		for _, words := range []bool{true, false} {
			args, err := wire.DecodeArgs([]byte(body), words)
			if err != nil {
				continue
			}
			r, err := inst.Call(t.Context(), hook.Call{Hook: "take", Args: args})
			e := (*hook.Error)(nil)
			if refused := errors.As(err, &e) && e.Kind == hook.Request; !refused && (err != nil || string(r.Value) != `"take"`) {
				t.Fatalf("%v %q: %s, %v", words, body, r.Value, err)
			}
		}
	})
}
