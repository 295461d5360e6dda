package lines

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/pyplug/pyplug/runner/hook"
)

// FuzzLines checks that each line that is not blank gets exactly one answer, in order, and that the
// answer is one line of JSON.
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
		var want []int // the numbers of the lines that are not blank, found without the Reader
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
