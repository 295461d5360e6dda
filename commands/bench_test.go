package commands

import (
	"strings"
	"testing"

	"github.com/pyplug/pyplug/commands/cmdline"
)

// TestOneDefault holds that help tells one default of each flag.
func TestOneDefault(t *testing.T) {
	for _, cmd := range commandList(&program{}) {
		for _, f := range cmd.Flags {
			if line := cmdline.Of(f).Usage; strings.Count(line, "(default:") > 1 {
				t.Errorf("%s: %s", cmd.Name, line)
			}
		}
	}
}
