package commands

import (
	"slices"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"
)

// What another pyplug is told is what this one was told, whatever way it was
// typed in.
func TestFlagWords(t *testing.T) {
	t.Setenv("PYPLUG_STOP_TIMEOUT", "3")
	t.Setenv("PYPLUG_START_TIMEOUT", "") // which is none
	for _, c := range []struct{ line, want string }{
		{"", "--stop-timeout=3s"},
		{"--python=3.12 -clean-env --start-timeout 90 --env A=1,2 --env=B", "--python=3.12 --env=A=1,2 --env=B --clean-env=true --start-timeout=1m30s --stop-timeout=3s"},
		{"--clean-env=false --stop-timeout 0 --cookie K=V --json", "--clean-env=false --stop-timeout=0s --cookie=K=V"},
		{"--cwd= --cwd /tmp", "--stop-timeout=3s"},
	} {
		var got []string
		app := &cli.App{Flags: append(pluginFlags("10m"), outputFlags()...), DisableSliceFlagSeparator: true, Action: func(ctx *cli.Context) error {
			got = flagWords(ctx, pluginFlags("10m"), "cwd")
			return nil
		}}
		if err := app.Run(append([]string{"pyplug"}, strings.Fields(c.line)...)); err != nil {
			t.Fatal(err)
		}
		if want := strings.Fields(c.want); !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", c.line, got, want)
		}
	}
}
