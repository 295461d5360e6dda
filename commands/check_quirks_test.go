//go:build linux

package commands_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/pyplug/pyplug/runner/runnertest"
)

// quirks are plugins in a real Python, most of them with one fault. TestStrictMeansHost starts them
// with pyplug and with a host. It sets the cookie of a plugin unless the flags do. More handshakes
// are in fakes.
var quirks = []struct {
	name      string
	file, set string   // the file below testdata/plugins/grpc, and a variable
	flags     []string // in addition to --strict
	code      int
	found     []string
	host      string // the outcome in the host, or "" if it is not tried
	waits     string // why pyplug and the host wait for the plugin; those with the same reason run together
}{
	{"good.py", "good.py", "QUIRK=", nil, 0, nil, works, ""},
	{"controller", "zoo.py", "ZOO=--controller --reflection", nil, 0, nil, works, ""},
	{"none", "quirks.py", "QUIRK=none", nil, 0, nil, works, ""},
	{"one worker", "quirks.py", "QUIRK=one worker", nil, 0, nil, works, ""},

	{"text", "quirks.py", "QUIRK=text", nil, 6, []string{"launch failure stdout-noise"}, refuses, ""},
	{"long line", "quirks.py", "QUIRK=long line", nil, 6, []string{"launch failure stdout-noise"}, refuses, ""},
	{"exit", "quirks.py", "QUIRK=exit", nil, 5, []string{"launch failure start-failed"}, refuses, ""},
	{"segfault", "quirks.py", "QUIRK=segfault", nil, 5, []string{"launch failure start-failed"}, refuses, ""},
	{"no cookie", "quirks.py", "QUIRK=no cookie", []string{"--cookie", "ANOTHER=value"}, 5, []string{"launch failure start-failed"}, "", ""},
	{"four fields", "quirks.py", "QUIRK=four fields", nil, 6, []string{"handshake failure handshake-malformed"}, refuses, ""},
	{"netrpc", "quirks.py", "QUIRK=netrpc", nil, 6, []string{"handshake failure handshake-malformed"}, refuses, ""},
	{"a name", "quirks.py", "QUIRK=a name", nil, 0, nil, works, ""},
	{"nothing listens", "quirks.py", "QUIRK=nothing listens", nil, 6, []string{"connect failure connect-failed"}, refuses, "wait"},
	{"late", "quirks.py", "QUIRK=late", []string{"--skip", "host"}, 7, []string{"handshake warning handshake-slow"}, works, "wait"},
	{"unflushed", "quirks.py", "QUIRK=unflushed", nil, 7, []string{"host failure handshake-unflushed"}, hangs, "hang"},
	{"unix", "zoo.py", "ZOO=--controller --unix", nil, 7, []string{"host failure host-refused"}, refuses, ""}, // only pyplug provides a directory for the socket
	{"early", "quirks.py", "QUIRK=early", nil, 7, []string{"host failure host-refused"}, refuses, "wait"},

	{"all interfaces", "quirks.py", "QUIRK=all interfaces", nil, 7, []string{"connect warning address-exposed"}, works, ""},
	{"returns", "quirks.py", "QUIRK=returns", nil, 5, []string{"launch failure start-failed"}, "", ""},

	{"NOT_SERVING", "zoo.py", "ZOO=--controller --health=NOT_SERVING", nil, 7, []string{"health failure health-not-serving"}, works, ""},
	{"no health", "quirks.py", "QUIRK=no health", nil, 7, []string{"health warning health-missing"}, works, ""},
	{"other health", "quirks.py", "QUIRK=other health", nil, 7, []string{"health warning health-unknown-service"}, works, ""},
	{"health raises", "quirks.py", "QUIRK=health raises", nil, 7, []string{"health failure health-not-serving", "host failure host-refused"}, works, "wait"},
	{"one thread", "quirks.py", "QUIRK=one thread", nil, 7, []string{"host failure host-hangs"}, hangs, "hang"},
	{"crash", "quirks.py", "QUIRK=crash", []string{"--call", "Leave n=7"}, 8, []string{"hooks failure call-failed"}, "", ""},
	{"healthy once", "quirks.py", "QUIRK=healthy once", []string{"--crash", "--skip", "host"}, 7, []string{"again failure again-failed"}, "", ""},

	{"asyncio", "aio.py", "ZOO=", nil, 7, []string{"stop warning no-controller", "cookie warning cookie-unchecked"}, works, "wait"},
	{"no controller", "quirks.py", "QUIRK=no controller", nil, 7, []string{"stop warning no-controller"}, works, "wait"},
	{"no controller, in a shell", "quirks.py", "QUIRK=no controller", nil, 7, []string{"hooks warning no-hooks", "stop warning no-controller", "host failure host-hangs"}, hangs, "hang"},
	{"stubborn", "quirks.py", "QUIRK=stubborn", []string{"--stop-timeout", "0.3", "--skip", "host"}, 7, []string{"stop warning no-controller", "stop warning stop-killed"}, works, "wait"},
	{"shutdown hangs", "quirks.py", "QUIRK=shutdown hangs", []string{"--stop-timeout", "0.3"}, 7, []string{"stop warning stop-killed", "host failure host-hangs"}, hangs, "hang"},
	{"shutdown segfaults", "quirks.py", "QUIRK=shutdown segfaults", []string{"--skip", "host"}, 7, []string{"stop warning stop-unclean"}, works, ""},
	{"shutdown exits", "quirks.py", "QUIRK=shutdown exits", []string{"--skip", "host"}, 7, []string{"stop warning stop-unclean"}, works, ""},
	{"shutdown takes 2 s", "quirks.py", "QUIRK=shutdown takes 2 s", nil, 0, nil, works, "wait"},
	{"shutdown returns None", "quirks.py", "QUIRK=shutdown returns None", nil, 0, nil, works, "wait"},
	{"child", "quirks.py", "QUIRK=child", nil, 7, []string{"stop warning left-behind", "host failure host-hangs"}, hangs, "hang"},
	{"quiet child", "quirks.py", "QUIRK=quiet child", nil, 7, []string{"stop warning left-behind", "host warning left-behind"}, leaves, ""},
	{"long line after", "quirks.py", "QUIRK=long line after", nil, 7, []string{"host warning host-kills"}, works, "wait"},
	{"any cookie", "quirks.py", "QUIRK=any cookie", nil, 7, []string{"cookie warning cookie-unchecked"}, works, ""},
	{"fixed port", "quirks.py", "QUIRK=fixed port", nil, 7, []string{"host warning address-fixed"}, "", ""},
}

// TestCheckShutdownError checks that the report notes an error answer to Shutdown, and that the
// plugin still gets its time to exit.
func TestCheckShutdownError(t *testing.T) {
	t.Parallel()
	env := []string{"PYPLUG_PYTHON=" + runnertest.GRPCIO(t), "QUIRK=shutdown returns None"}
	c := checkPlugin(t, env, "--cookie", "ZOO_COOKIE=monkey", "--skip", "host", "testdata/plugins/grpc/quirks.py")
	c.holds(t, 0)
	if got := c.told("note"); !slices.Contains(got, "stop note shutdown-error") || c.stage("stop").Details["step"] != "asked" {
		t.Errorf("notes %q, %+v", got, c.stage("stop"))
	}
}

// TestCheckNoCookie checks that, if a plugin exits because it lacks its cookie, the fix contains
// the cookie in the plugin's source.
func TestCheckNoCookie(t *testing.T) {
	t.Parallel()
	env := []string{"PYPLUG_PYTHON=" + runnertest.GRPCIO(t), "QUIRK=none"}
	c := checkPlugin(t, env, "testdata/plugins/grpc/quirks.py")
	c.holds(t, 5, "launch failure start-failed")
	if f := c.stage("launch").Findings; len(f) == 0 || !strings.Contains(f[0].Fix, "--cookie ZOO_COOKIE=monkey") {
		t.Errorf("launch: %+v, want a fix with --cookie", f)
	}
}
