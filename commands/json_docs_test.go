//go:build linux

package commands_test

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/pyplug/pyplug/runner/hook"
)

// TestJSONPage holds that what docs/json.md shows has the fields, and the kinds of
// their values, that are printed.
func TestJSONPage(t *testing.T) {
	d := newDaemons(t)
	d.stopped("small")
	text, err := os.ReadFile("docs/json.md")
	if err != nil {
		t.Fatal(err)
	}
	examples := consoleExamples(string(text))
	if len(examples) < 5 {
		t.Fatalf("%d examples, want one of each command", len(examples))
	}
	for _, e := range examples {
		out, errs, code := d.pyplug(strings.Fields(e.command)[1:]...)
		got, want := shape(t, out), shape(t, e.output)
		if code != 0 || got != want {
			t.Errorf("%s: exit code %d, got\n%s\nwant\n%s\n%s", e.command, code, got, want, errs)
		}
	}
}

// TestErrorKeys verifies that docs/json.md explains every key of an error.
func TestErrorKeys(t *testing.T) {
	text, err := os.ReadFile("docs/json.md")
	if err != nil {
		t.Fatal(err)
	}
	full, err := json.Marshal(&hook.Error{
		Kind: hook.Crash, Reason: "r", Hook: "h", Begun: true, Python: &hook.Raised{}, Status: &hook.RPCStatus{Code: "c", Message: "m", Details: []json.RawMessage{[]byte("{}")}},
		At: []hook.Frame{{}}, Place: "p", Exit: &hook.Exit{}, Tried: []string{"t"}, Hints: []string{"h"}, Drawing: []string{"d"}, Plugin: "p", Err: io.EOF,
	})
	if err != nil {
		t.Fatal(err)
	}
	var keys map[string]any
	if err := json.Unmarshal(full, &keys); err != nil {
		t.Fatal(err)
	}
	if len(keys) != reflect.TypeFor[hook.Error]().NumField()+2 { // message stands for Err; details and status_message are those of Status
		t.Errorf("the error has %d keys: %s", len(keys), full)
	}
	for key := range keys {
		if !strings.Contains(string(text), "`"+key+"`") {
			t.Errorf("docs/json.md does not explain %s", key)
		}
	}
}

// shape names the fields of an object and the kinds of their values; a list is what
// its first element is.
func shape(t *testing.T, text string) string {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return shapeOf(v)
}

func shapeOf(v any) string {
	switch v := v.(type) {
	case map[string]any:
		var fields []string
		for _, name := range slices.Sorted(maps.Keys(v)) {
			fields = append(fields, name+": "+shapeOf(v[name]))
		}
		return "{" + strings.Join(fields, ", ") + "}"
	case []any:
		if len(v) == 0 {
			return "[]"
		}
		return "[" + shapeOf(v[0]) + "]"
	}
	return fmt.Sprintf("%T", v)
}
