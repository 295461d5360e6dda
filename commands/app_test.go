package commands

import (
	"strings"
	"testing"
)

// TestJSONBeforeFlagsAreRead checks that --json also applies to errors of the command line.
func TestJSONBeforeFlagsAreRead(t *testing.T) {
	for _, c := range []struct {
		line string
		json bool
	}{
		{"health p.py", false},
		{"health --json", true},
		{"health -json", true},
		{"health --json=true p.py", true},
		{"health --json=false", false},
		{"health --json=maybe", false},
		{"health --json --json=false", false},
		{"health --service --watch --json", true},
		{"health --service --json --watch", false},
		{"health -H --json -qv", false},
		{"health --json=true --bogus", true},
		{"health -json --bogus", true},
		{"health --bogus --json", true},
		{"health p.py -- --json", false},
		{"health json", false},
		{"health --timeout", false},
		{"run --bogus --json p.py greet", true},
		{"run p.py greet --json", false}, // data
		{"run p.py greet -- --json", false},
	} {
		s, _, _ := testStreams("")
		prog := &program{streams: s}
		prog.commands = commandList(prog)
		_, _ = prog.readArgs(append([]string{"pyplug"}, strings.Fields(c.line)...))
		if prog.opts.json != c.json {
			t.Errorf("%s: JSON %v, want %v", c.line, prog.opts.json, c.json)
		}
	}
}
