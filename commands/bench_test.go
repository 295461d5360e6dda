package commands

import (
	"strings"
	"testing"
	"time"

	"github.com/pyplug/pyplug/runner"
	"github.com/pyplug/pyplug/runner/bench"
)

// TestBenchLimit has 0 stand for no limit, as elsewhere.
func TestBenchLimit(t *testing.T) {
	for typed, want := range map[string]time.Duration{"": bench.DefaultOptions().Limit, "--limit=1s": time.Second, "--limit=0": runner.Forever} {
		f := &program{}
		cmd, o := newBenchCommand(f)
		if err := setFlags(cmd.Flags, strings.Fields(typed)...); err != nil || o.measure.Limit != want {
			t.Errorf("%q: the limit is %v, %v; want %v", typed, o.measure.Limit, err, want)
		}
	}
}

// TestOneDefault holds that help tells one default of each flag.
func TestOneDefault(t *testing.T) {
	for _, cmd := range commandList(&program{}) {
		for _, f := range cmd.Flags {
			if line := valueOf(f).Usage; strings.Count(line, "(default:") > 1 {
				t.Errorf("%s: %s", cmd.Name, line)
			}
		}
	}
}
