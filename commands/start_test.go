package commands

import (
	"slices"
	"strings"
	"testing"

	"github.com/pyplug/pyplug/runner/daemon"
	"github.com/pyplug/pyplug/runner/wire"
)

// A name is what package wire takes for one, which the warm way goes by.
func TestValidName(t *testing.T) {
	for _, name := range []string{"", "a", "9", "a-b_c", "-a", "_a", "A", "a.b", "a/b", "ä", "a b", "0-"} {
		if got, want := validName(name), wire.ValidName(name); got != want {
			t.Errorf("%q: %v, want %v", name, got, want)
		}
	}
}

// What runs differs by its Python, its flags and what it says of its files, in this
// order: the first makes the others pointless.
func TestDifference(t *testing.T) {
	running := daemon.Identity{Name: "n", Python: "/a/python", Digest: digestWords([]string{"--workers=2"})}
	for _, c := range []struct {
		python string
		words  []string
		news   string
		want   string
	}{
		{"/a/python", []string{"--workers=2"}, "", ""},
		{"/a/python", []string{"--workers=2", "--events=file"}, "", ""},
		{"/a/python", []string{"--workers=3"}, "", "n runs with other flags: `pyplug stop n`"},
		{"/a/python", nil, "x.py was changed", "n runs with other flags: "},
		{"/b/python", nil, "x.py was changed", "n runs with another Python, /a/python, and now it would be /b/python: "},
		{"/a/python", []string{"--workers=2"}, "x.py was changed", "x.py was changed"},
	} {
		wanted := daemon.Identity{Name: "n", Python: c.python, Digest: digestWords(c.words)}
		got := difference(running, wanted, c.news)
		if !strings.HasPrefix(got, c.want) || (got == "") != (c.want == "") {
			t.Errorf("%+v: got %q", c, got)
		}
	}
}

// The process that stays is told the same flags, whatever the plugin is called.
func TestDaemonArgs(t *testing.T) {
	o := startOptions{words: []string{"--env=A=B c", "--workers=2"}, digest: "d", auto: true, debug: "proc"}
	o.cfg.Plugin = "--odd.py"
	want := []string{"__daemon", "--name=n", "--digest=d", "--auto", "--debug=proc", "--env=A=B c", "--workers=2", "--", "--odd.py"}
	if got := daemonArgs(o, "n"); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// No command that keeps a plugin has two flags of one name, which would panic.
func TestFlagsAreUnique(t *testing.T) {
	f := &program{}
	for _, cmd := range commandList(f) {
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
