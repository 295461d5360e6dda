package cases

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/lines"
)

func casesOf(f *File) []*Case { return slices.Collect(f.All()) }

func TestParse(t *testing.T) {
	text := "\ufeff" + `{"hook": "add", "args": [1, 2], "result": 3, "id": "x"}` + "\r\n\r\n  \n" +
		`{"hook": "add", "name": "n", "match": "^3$", "contains": [1], "health": true, "under": "200ms", "skip": "later"}` + "\n" +
		`{"hook": "f", "text": "a", "items": [1, "eA=="], "binary": [false, true], "attempts": 2, "sole": "x"}` + "\n" +
		`{"hook": "f", "base64": "/w==", "result": null}` + "\n" +
		`{"hook": "f", "error": {"kind": "hook", "type": "T", "match": "m"}}`
	f, err := Parse("a.jsonl", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	all := casesOf(f)
	var got []string
	for _, c := range all {
		got = append(got, fmt.Sprintf("%d %s %v %s %d %v %s %v %v %s", c.Line, c.Label(), c.hasAnswer, c.wants.Value, len(c.wants.Items), c.match, c.contains, c.health, c.under, c.Skip))
	}
	want := []string{
		"1 add(1, 2) true 3 0 <nil>  false 0s ",
		"4 n false  0 ^3$ [1] true 200ms later",
		`5 f("a") true  2 <nil>  false 0s `,
		`6 f("\udcff") true null 0 <nil>  false 0s `,
		"7 f() false  0 <nil>  false 0s ",
	}
	if a, b := strings.Join(got, "\n"), strings.Join(want, "\n"); a != b {
		t.Errorf("got\n%s\nwant\n%s", a, b)
	}
	if items := all[2].wants.Items; items[0].Binary || !items[1].Binary {
		t.Errorf("items are %+v", items)
	}
	if w := all[4].fails; w == nil || w.Kind != hook.Failed || w.Type != "T" || w.match.String() != "m" {
		t.Errorf("the error is %+v", w)
	}
}

// TestRecord checks that a record's words are arguments of its calls, and that the last answer of
// an occurrence replaces earlier ones. Parse ignores canceled calls and an incomplete last line.
func TestRecord(t *testing.T) {
	f, err := Parse("r", []byte(`{"record":{"plugin":"p","words":["--n","2"]}}
{"hook":"f","args":[1],"error":{"kind":"hook","message":"m","sent":true}}
{"hook":"f","args":[1],"occurrence":2,"result":2}
{"record":{"plugin":"p","words":["--n","2"]}}
{"hook":"f","args":[1],"result":3}
{"hook":"f","args":[3],"error":{"kind":"canceled","message":"interrupted","sent":true}}
{"hook":"f","args":[4],"resu`))
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	for c := range f.All() {
		got += fmt.Sprintf("%d:%s:%d ", c.Line, c.wants.Value, len(c.arguments().Words))
	}
	if got != "3:2:2 5:3:2 " {
		t.Errorf("got %s", got)
	}
}

func TestFaults(t *testing.T) {
	manyBad := ""
	for number := 2; number <= maxBad; number++ {
		manyBad += fmt.Sprintf("\na:%d:1: the line is not JSON: byte 1: invalid character 'x' looking for beginning of value", number)
	}
	manyBad += "\n… more lines cannot be read"
	for text, want := range map[string]string{
		"":                      "a has no cases",
		"\n\n":                  "a has no cases",
		"{\"record\":{}}\n{x\n": "a:2:2: the line is not JSON: byte 2: invalid character 'x' looking for beginning of object key string",
		`{"record":{}}`:         "a has no cases",
		"{\"hook\": \"f\"}\n{x": "a:2:2: the line is not JSON: byte 2: invalid character 'x' looking for beginning of object key string",
		"  {\"hook\": \"f\"":    "a:1:15: the line is not JSON: byte 15: unexpected end of JSON input",
		"{\"hook\": \"\xff\"}":  "a:1:11: the line is not UTF-8: byte 11 is 0xff",
		" [1]":                  `a:1:2: the line is [1], expected an object with "hook" and "args"`,
		`{"args": []}`:          `a:1:1: "hook" is missing`,
		"# a comment\n":         "a has no cases",
		"# x\n{\"hook\": \"f\", \"expect\": 1}\n\n{\n  # y\n{\"hook\": \"f\", \"raises\": 1}\n{\"hook\": \"f\", \"match\": 1}": `a:2:15: unknown key "expect", expected id, hook and args; did you mean result?
a:4:2: the line is not JSON: byte 2: unexpected end of JSON input
a:6:15: unknown key "raises", expected id, hook and args (did you mean error?)
a:7:15: "match" is 1, expected text with a regular expression`,
		strings.Repeat("x\n", 30):                                                        "a:1:1: the line is not JSON: byte 1: invalid character 'x' looking for beginning of value" + manyBad,
		`{"hook": "f", "resutl": 1}`:                                                     `a:1:15: unknown key "resutl", expected id, hook and args; did you mean result?`,
		`{"hook": "f", "name": "a", "name": "b"}`:                                        `a:1:15: "name" is given twice`,
		`{"hook": "f", "args": 1}`:                                                       `a:1:15: "args" is 1, expected an object (names) or an array (positions)`,
		`{"hook": "f", "match": "("}`:                                                    "a:1:15: \"match\" is not a valid regular expression: error parsing regexp: missing closing ): `(`",
		`{"hook": "f", "match": "(a{1000}){1000}"}`:                                      "a:1:15: \"match\" is not a valid regular expression: error parsing regexp: invalid repeat count: `{1000}`",
		`{"hook": "f", "error": {"match": "("}}`:                                         "a:1:15: in \"error\", \"match\" is not a valid regular expression: error parsing regexp: missing closing ): `(`",
		`{"hook": "f", "under": "fast"}`:                                                 `a:1:15: "under" is "fast", expected a duration such as "200ms"`,
		`{"hook": "f", "under": 3}`:                                                      `a:1:15: "under" is 3, expected text such as "200ms"`,
		`{"hook": "f", "occurrence": 0}`:                                                 `a:1:15: "occurrence" is 0, expected a number from 1`,
		`{"hook": "f", "occurrence": "1"}`:                                               `a:1:15: "occurrence" is "1", expected a number from 1`,
		`{"hook": "f", "\u006eame": "a", "name": "b"}`:                                   `a:1:15: "name" is given twice`,
		`{"hook": "f", "skip": ""}`:                                                      `a:1:15: "skip" is "", expected text with the reason`,
		`{"hook": "f", "health": false}`:                                                 `a:1:15: "health" is false, expected true`,
		`{"hook": "f", "result": 1, "error": {}}`:                                        `a:1:15: the line has more than one of "result", "items" and "error", expected one`,
		`{"hook": "f", "items": 1}`:                                                      `a:1:15: "items" is 1, expected an array`,
		`{"hook": "f", "error": 1}`:                                                      `a:1:15: "error" is 1, expected the type or a part of the message, or an object with "kind", "type" or "match"`,
		`{"hook": "f", "error": {"tipe": "x"}}`:                                          `a:1:15: unknown key "tipe" in "error", expected kind, type and match; did you mean type?`,
		`{"hook": "f", "error": {"kind": "crsh"}}`:                                       `a:1:15: the kind of "error" is "crsh", expected one of hook, usage, interpreter, request, start, handshake, unhealthy, crash, unavailable, timeout, internal, canceled; did you mean crash?`,
		`{"hook": "f", "error": {"match": "x"}, "match": ""}`:                            `a:1:40: "match" is "", expected text with a regular expression`,
		`{"hook": "f", "result": "x", "binary": true}`:                                   `a:1:15: "result" is "x", expected base64`,
		`{"hook": "f", "items": ["eA==", 1], "binary": true}`:                            `a:1:15: "items"[1] is 1, expected base64`,
		`{"hook": "f", "result": "x", "binary": 1}`:                                      `a:1:30: "binary" is 1, expected true`,
		`{"hook": "f", "error": {"kind": "hook", "kind": "usage"}}`:                      `a:1:15: in "error", "kind" is given twice`,
		`{"hook": "f", "error": {"KIND": "hook"}}`:                                       `a:1:15: unknown key "KIND" in "error", expected kind, type and match; did you mean kind?`,
		`{"hook": "f", "error": {"message": "m", "python": {"type": "T", "type": "U"}}}`: `a:1:15: in "error", "type" is given twice`,
		`{"hook": "f", "HOOK": "g"}`:                                                     `a:1:15: unknown key "HOOK", expected id, hook and args; did you mean hook?`,
		`{"record":{"plugin":"p","plugin":"q"}}`:                                         `a:1:1: "plugin" is given twice`,
		`{"record":1}`:                                                                   `a:1:1: the head line is not that of a record`,
	} {
		_, err := Parse("a", []byte(text))
		if err == nil {
			t.Errorf("%s: no error", text)
			continue
		}
		e := hook.AsError(err)
		got := err.Error()
		for _, hint := range hook.Words(e.Hints) {
			got += "; " + hint
		}
		got = strings.Join(append([]string{got}, e.Drawing...), "\n")
		if got != want || e.Kind != hook.Usage {
			t.Errorf("%s:\ngot  %s (%s)\nwant %s", text, got, e.Kind, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(`{"hook": "f", "args": [1], "error": {"kind": "hook"}, "name": "\ud800"}`, `{"a": [1, 1.5e3]}`)
	f.Add(`{"hook": "f", "items": [1, 2], "binary": true}`, `["\ud800", null]`)
	f.Add(`{ "binary" : true , "hook":"f", "result": "eA==" , "contains":{}, "match": "x"}`, `"eA=="`)
	f.Fuzz(func(t *testing.T, line, value string) {
		file, err := Parse("a", []byte(line+"\n"))
		if err != nil {
			if e := hook.AsError(err); e.Kind != hook.Usage {
				t.Errorf("%s: %s", e.Kind, err)
			}
			return
		}
		probe, err := Parse("b", []byte(`{"hook":"f","result":`+value+"}"))
		if err != nil || probe.Len() != 1 {
			return
		}
		got := casesOf(probe)[0].wants
		for _, some := range []bool{false, true} {
			if places := placesOf(string(got.Value), string(got.Value), some, nil); places != "" {
				t.Errorf("%s differs from itself at %s", got.Value, places)
			}
		}
		for c := range file.All() {
			r := &Result{Case: c, Status: Failed, Failure: c.check(got, 0)}
			if r.Failure == nil || !r.updatable() {
				continue
			}
			whole := file.text
			updated := append(append(append([]byte{}, whole[:c.start]...), r.updated(whole[c.start:c.end])...), whole[c.end:]...)
			again, err := Parse("a", updated)
			if err != nil {
				t.Fatalf("%s\nbecame\n%s\n%v", line, updated, err)
			}
			for c := range again.All() {
				if c.Line == r.Line && c.hasAnswer && c.wants.compare(got, nil) != nil {
					t.Errorf("%s\nbecame\n%s\nfor %s", line, updated, got.Value)
				}
			}
		}
	})
}

// TestErrorKeys checks that a case may have every key of an error that a call returned.
func TestErrorKeys(t *testing.T) {
	for field := range reflect.TypeFor[hook.Error]().Fields() {
		key, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if key != "-" && !slices.Contains(slices.Concat(errorKeys, errorShape), key) {
			t.Errorf("the key %q of an error is unknown", key)
		}
	}
}

// TestReadFile checks that ReadFile does not read a device or a huge line into memory, and that
// Read reads a pipe up to a limit.
func TestReadFile(t *testing.T) {
	dir := t.TempDir()
	long := filepath.Join(dir, "long")
	if err := os.WriteFile(long, []byte(`{"hook":"f"}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(long, 20<<30); err != nil { // adds one long line of NUL bytes
		t.Skip(err)
	}
	text, err := ReadFile(long)
	if err != nil || len(text) > 2*lines.DefaultMaxLine {
		t.Fatalf("got %d bytes, %v", len(text), err)
	}
	if _, err := Parse("long", text); err == nil || err.Error() != "long:2: the line has more than 67108864 bytes" {
		t.Errorf("got %v", err)
	}
	if _, err := ReadFile(os.DevNull); err == nil || !strings.Contains(err.Error(), "not a regular file or a pipe") {
		t.Errorf("a device: got %v", err)
	}
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if _, err := out.WriteString(`{"hook":"f"}`); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	if text, err := Read(in); err != nil || string(text) != `{"hook":"f"}` {
		t.Errorf("a pipe: got %q, %v", text, err)
	}
	if _, err := Read(endless{}); err == nil || err.Error() != "a pipe with more than 268435456 bytes" {
		t.Errorf("a pipe without an end: got %v", err)
	}
}

// endless is a reader of blank lines without an end.
type endless struct{}

func (endless) Read(b []byte) (int, error) { return copy(b, blankLines), nil }

var blankLines = strings.Repeat("\n", chunk)
