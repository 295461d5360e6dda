package lines

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

// FuzzLines holds that each line that is not blank gets exactly one answer, in its
// turn, which is one line of JSON.
func FuzzLines(f *testing.F) {
	for _, seed := range []string{
		"", "\n\n", `{"id": 7, "hook": "f", "args": {"a": "}\"]"}}` + "\n", "\ufeff{}\r\n[1]\r5\n\"", "{\"hook\":\"\\ud800\",\"id\":\"\\\\\"}\n\xff\n",
		`{"hook":"f","args":[1e400]}` + "\n" + `{"h\u006fok":"f","hook":"f"}`, strings.Repeat("[", 200) + "\n",
	} {
		for items := range 4 {
			f.Add([]byte(seed), byte(items))
		}
	}
	f.Fuzz(func(t *testing.T, in []byte, how byte) {
		o := options(bytes.NewReader(in), nil)
		o.MaxLine, o.Jobs = 64, 2
		p := parser{}
		if how%4 > 0 {
			o.Hook, o.Items = "h", Items(how%4-1)
			p = parser{hook: o.Hook, items: o.Items}
		}
		var out bytes.Buffer
		o.Out = &out
		if err := New(callerFunc(echoed), o).Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		var want []int // the lines that are not blank, found in another way
		for i, line := range strings.Split(strings.TrimPrefix(string(in), hook.ByteOrderMark), "\n") {
			if !p.blank([]byte(strings.TrimSuffix(line, "\r"))) {
				want = append(want, i+1)
			}
		}
		got := strings.SplitAfter(out.String(), "\n")
		if got = got[:len(got)-1]; len(got) != len(want) {
			t.Fatalf("%d answers, want %d:\n%s", len(got), len(want), &out)
		}
		for i, line := range got {
			var answer struct {
				ID            json.RawMessage
				Result, Error json.RawMessage
			}
			if err := json.Unmarshal([]byte(line), &answer); err != nil {
				t.Fatalf("%v: %s", err, line)
			}
			if (answer.Result == nil) == (answer.Error == nil) {
				t.Fatalf("neither or both of result and error: %s", line)
			}
			if answer.ID == nil || how%4 > 0 && string(answer.ID) != fmt.Sprint(want[i]) {
				t.Fatalf("id %s, want %d: %s", answer.ID, want[i], line)
			}
		}
	})
}

// FuzzMembers holds that the members of an object are found where they are.
func FuzzMembers(f *testing.F) {
	for _, seed := range []string{
		`"\u12"`, `["\x", "a\u0061b", "`, "[\"\x00\"]", `{"a": [1, -0.5e+3, "\u00e9\\\"", true, false, null], "b\n" : {}}`, `{}`, `{ }`, `{"a":{"b":[{},{}]},"c" : "}" }`, `{"\"":"\\", ",":":"}`,
		`["0123456789abcdef"]`, "[\"0123456789\x1f12345678\"]", `["Grüße 😀 aus 1234567 \n 89012345678"]`, `["0123456789\q12345678"]`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var want map[string]json.RawMessage
		text = bytes.Trim(text, blanks)
		if bytes.IndexByte(text, '\n') >= 0 || schema.CheckValue(text) != nil || json.Unmarshal(text, &want) != nil || want == nil {
			return
		}
		got := map[string]json.RawMessage{}
		for key, value := range Members(text) {
			var name string
			if err := json.Unmarshal(key, &name); err != nil {
				t.Fatal(err)
			}
			got[name] = value
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	})
}
