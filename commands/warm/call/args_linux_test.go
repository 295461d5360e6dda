package call

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/pyplug/pyplug/commands/warm/warmtest"
)

// TestOrder holds what all of this is for: that init runs before what takes time.
func TestOrder(t *testing.T) {
	before, after := warmtest.Inits(t, "commands/warm/call")
	if len(before) > 16 { // 13, of about 210
		t.Errorf("%d packages initialise before this one: %q", len(before), before)
	}
	for _, late := range []string{"os", "time", "context", "unicode", "golang.org/x/net/http2/hpack"} {
		if !slices.Contains(after, late) {
			t.Errorf("%s does not initialise after this package, but before: %q", late, before)
		}
	}
}

// TestCommandLine holds that the words are those of package os, in processes of
// their own.
func TestCommandLine(t *testing.T) {
	if slices.Contains(os.Args, "words") {
		if got := commandLine(); !slices.Equal(got, os.Args[1:]) {
			t.Fatalf("%.100q, want %.100q", got, os.Args[1:])
		}
		return
	}
	for _, words := range [][]string{
		nil, {""}, {"", "", ""}, {"a b", "\n", "ü\xff", "--x=1"},
		{strings.Repeat("x", 4<<10)}, {strings.Repeat("x", 100<<10), "", strings.Repeat("y", 50<<10)}, strings.Split(strings.Repeat("z", 20<<10), ""),
	} {
		cmd := exec.Command(os.Args[0], append([]string{"-test.run=^TestCommandLine$", "words"}, words...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%d words: %v\n%.400s", len(words), err, out)
		}
	}
}
