package commands

import (
	"strings"
	"testing"
)

// TestJSONBeforeFlagsAreRead verifies that --json and --probe-codes hold for errors of the
// command line, too.
func TestJSONBeforeFlagsAreRead(t *testing.T) {
	for _, c := range []struct {
		line        string
		json, codes bool
	}{
		{"health p.py", false, false},
		{"health --json --probe-codes", true, true},
		{"health -json -probe-codes", true, true},
		{"health --json=true --probe-codes=1 p.py", true, true},
		{"health --json=false --probe-codes=f", false, false},
		{"health --json=maybe", false, false},
		{"health --json --json=false", false, false},
		{"health --user-agent --probe-codes --json", true, false},
		{"health --user-agent=x --probe-codes", false, true},
		{"health -H --json -qv --probe-codes", false, true},
		{"health --json=true --bogus", true, false},
		{"health -json --bogus", true, false},
		{"health --bogus --json", true, false},
		{"health p.py -- --json", false, false},
		{"health json", false, false},
		{"health --timeout", false, false},
		{"run --probe-codes --json p.py greet", true, false},
		{"run p.py greet --json", false, false}, // data
		{"run p.py greet -- --json", false, false},
	} {
		s, _, _ := testStreams("")
		prog := &program{streams: s}
		prog.commands = commandList(prog)
		_, _ = prog.readArgs(append([]string{"pyplug"}, strings.Fields(c.line)...))
		if prog.opts.json != c.json || prog.probeCodes != c.codes {
			t.Errorf("%s: JSON %v, probing %v; want %v, %v", c.line, prog.opts.json, prog.probeCodes, c.json, c.codes)
		}
	}
}
