package commands

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// The process in the background gets the flags by its environment, which only the same
// user can read, and the plugin does not get them.
func TestTakeOver(t *testing.T) {
	name, value, _ := strings.Cut(handOver([]string{"--env=A=B c\xff,\n;&", "--workers=2"}), "=")
	t.Setenv(name, value)
	want := []string{"pyplug", "__daemon", "--env=A=B c\xff,\n;&", "--workers=2", "--name=n", "--", "--odd.py"}
	if got := takeOver([]string{"pyplug", "__daemon", "--name=n", "--", "--odd.py"}); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if _, there := os.LookupEnv(name); there {
		t.Error("the plugin would have it, too")
	}
}

// No command has two flags with one name.
func TestFlagsAreUnique(t *testing.T) {
	prog := &program{}
	for _, cmd := range commandList(prog) {
		seen := map[string]bool{}
		for _, flag := range cmd.Flags {
			for _, name := range flag.Names() {
				if seen[name] {
					t.Errorf("%s has --%s twice", cmd.Name, name)
				}
				seen[name] = true
			}
		}
	}
}
