//go:build linux

package commands_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
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
