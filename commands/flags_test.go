package commands

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	"github.com/pyplug/pyplug/commands/cmdline"
	"github.com/pyplug/pyplug/runner/plan"
	"github.com/pyplug/pyplug/runner/settings"
)

// setFlags reads flags from words and from the environment.
func setFlags(flags []cli.Flag, words ...string) error {
	_, err := cmdline.Read(&cli.Command{Flags: flags}, allWords, words)
	if err == nil {
		err = cmdline.SetFromEnvironment(flags)
	}
	return err
}

// TestFlagWords checks that another pyplug gets the same flags as this one, however they were
// given.
func TestFlagWords(t *testing.T) {
	t.Setenv("PYPLUG_STOP_TIMEOUT", "3")
	t.Setenv("PYPLUG_START_TIMEOUT", "") // counts as unset
	for _, c := range []struct{ line, want string }{
		{"", "--stop-timeout=3"},
		{"--python=3.12 -clean-env --start-timeout 90 --env A=1,2 --env=B", "--python=3.12 --env=A=1,2 --env=B --clean-env=true --start-timeout=90 --stop-timeout=3"},
		{"--clean-env=false --stop-timeout 5 --stop-timeout 0 --cookie K=V", "--clean-env=false --stop-timeout=0 --cookie=K=V"},
	} {
		flags := pluginFlags(new(plan.Config))
		if err := setFlags(flags, strings.Fields(c.line)...); err != nil {
			t.Fatal(err)
		}
		if got, want := cmdline.Words(flags), strings.Fields(c.want); !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", c.line, got, want)
		}
	}
}

// TestOneDefault checks that the help has only one default for each flag.
func TestOneDefault(t *testing.T) {
	for _, cmd := range commandList(&program{}) {
		for _, f := range cmd.Flags {
			if line := cmdline.FlagOf(f).Usage; strings.Count(line, "(default:") > 1 {
				t.Errorf("%s: %s", cmd.Name, line)
			}
		}
	}
	if shown := settings.ByFlag("max-restarts").Shown; !strings.HasSuffix(shown, fmt.Sprint("run --lines: ", linesRestarts)) {
		t.Errorf("--max-restarts: %s", shown)
	}
}
