package commands

import (
	"testing"
)

// TestFlagsAreUnique checks that no command has two flags with the same name.
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
