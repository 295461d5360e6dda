package pyworker_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/runnertest"
	"github.com/pyplug/pyplug/runner/schema"
)

// TestBooleanWords checks the words for booleans in both parsers: schema.ParseBool for gRPC, and
// the worker for functions.
func TestBooleanWords(t *testing.T) {
	runnertest.NothingLeft(t)
	plugin := filepath.Join(t.TempDir(), "plugin.py")
	if err := os.WriteFile(plugin, []byte("def flag(x: bool):\n    return x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	inst, err := launcher(t, plugin).Launch(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer inst.Stop(t.Context())
	for word, want := range map[string]string{
		"true": "true", "True": "true", "yes": "true", "YES": "true", "on": "true", "On": "true", "1": "true", " true\t": "true",
		"false": "false", "FALSE": "false", "no": "false", "No": "false", "off": "false", "oFF": "false", "0": "false", "no ": "false",
		"": "", "t": "", "y": "", "n": "", "2": "", "01": "", "1.0": "", "null": "", "none": "", "enabled": "", "truе": "", // the last with a Cyrillic letter
	} {
		parsed, ok := schema.ParseBool(word)
		if string(parsed) != want || ok != (want != "") {
			t.Errorf("ParseBool of %q: got %s, %v, want %q", word, parsed, ok, want)
		}
		r, err := inst.Call(t.Context(), words(t, "flag", "x="+word))
		if want == "" {
			if e := hook.AsError(err); e == nil || e.Kind != hook.Request {
				t.Errorf("the worker takes %q as %s, %v", word, r.Value, err)
			}
		} else if err != nil || string(r.Value) != want {
			t.Errorf("the worker: %q is %s, %v, want %s", word, r.Value, err, want)
		}
	}
}
