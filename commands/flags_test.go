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
		{"", "--stop-timeout=3"},
		{"--python=3.12 -clean-env --start-timeout 90 --env A=1,2 --env=B", "--python=3.12 --env=A=1,2 --env=B --clean-env=true --start-timeout=90 --stop-timeout=3"},
		{"--clean-env=false --stop-timeout 0 --cookie K=V --json", "--clean-env=false --stop-timeout=0 --cookie=K=V"},
	} {
		var o pluginOptions
		var output outputOptions
		flags := o.flags("10m")
		app := &cli.App{Flags: append(flags, output.flags()...), DisableSliceFlagSeparator: true}
		app.Action = func(*cli.Context) error { return nil }
		if err := app.Run(append([]string{"pyplug"}, strings.Fields(c.line)...)); err != nil {
			t.Fatal(err)
		}
		if got, want := flagWords(flags), strings.Fields(c.want); !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", c.line, got, want)
		}
	}
}

// A flag with several names is given once.
func TestFlagAliases(t *testing.T) {
	var h headers
	flag := h.flag("rpc-header")
	app := &cli.App{Flags: []cli.Flag{flag}, Action: func(*cli.Context) error { return nil }}
	if err := app.Run([]string{"pyplug", "-H", "a=1", "-H", "b: 2"}); err != nil {
		t.Fatal(err)
	}
	if want := []string{"a", "1", "b", "2"}; !slices.Equal(h.pairs, want) || !isGiven(flag) {
		t.Errorf("got %q, want %q", h.pairs, want)
	}
}
