package hook

import (
	"testing"

	"github.com/pyplug/pyplug/runner/schema"
)

// TestWord checks that only the names in a hint become flags or commands, and that texts stay
// unchanged.
func TestWord(t *testing.T) {
	queue := schema.Setting("queue")
	for want, hint := range map[string]schema.Hint{
		"":                                   {},
		"100%s":                              schema.Hintf("100%s"),
		"raise --queue to 100%s, or --queue": schema.Hintf("raise %s to %s, or %[1]s", queue, "100%s"),
		"run `pyplug start " + schema.QuoteLine([]string{"my plugin.py"}) + "` now": schema.Hintf("run %s now", schema.Command{"start", "my plugin.py"}),
		"either raise --queue: py -m venv e":                                        schema.Hintf("either %s: %s", schema.Hintf("raise %s", queue), schema.EnvLine("py -m venv e")),
	} {
		if got := Word(hint); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
