package commands

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pyplug/pyplug/runner"
	"github.com/pyplug/pyplug/runner/daemon"
	"github.com/pyplug/pyplug/runner/runnertest"
	"github.com/pyplug/pyplug/runner/schema"
)

// A running plugin may differ from the wanted one by its Python or its flags.
func TestDifference(t *testing.T) {
	running := daemon.Identity{Name: "n", Python: "/a/python", Digest: "a.b"}
	for _, c := range []struct {
		python string
		digest string
		auto   bool
		want   string
	}{
		{"/a/python", "a.b", false, ""},
		{"/a/python", "x.b", false, "n runs with other settings: `pyplug stop n`"},
		{"/a/python", "a.x", false, "n runs with other settings: `pyplug stop n`"},
		{"/a/python", "a.x", true, ""}, // a call says the rest itself
		{"/a/python", "x.b", true, "n runs with other settings: "},
		{"/b/python", "x.b", false, "n runs with another Python, /a/python, and now it would be /b/python: "},
	} {
		wanted := daemon.Identity{Name: "n", Python: schema.Path(c.python), Digest: c.digest, AutoStarted: c.auto}
		got := difference(running, wanted)
		if !strings.HasPrefix(got, c.want) || (got == "") != (c.want == "") {
			t.Errorf("%+v: got %q", c, got)
		}
	}
}

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

// The digest depends on the settings, not on how the flags say them.
func TestDigest(t *testing.T) {
	plugin := filepath.Join(t.TempDir(), "plugin.py")
	if err := os.WriteFile(plugin, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	python := runnertest.Python(t)
	digest := func(change func(o *startOptions)) string {
		t.Helper()
		var o startOptions
		o.cfg = runner.Config{Plugin: plugin, Python: python, Cwd: t.TempDir(), Environ: os.Environ(), NaN: "error"}
		change(&o)
		s, err := runner.Open(t.Context(), o.cfg)
		if err != nil {
			t.Fatal(err)
		}
		return digestOf(s, o)
	}
	plain := digest(func(*startOptions) {})
	no := false
	for name, c := range map[string]struct {
		change    func(o *startOptions)
		how, rest bool // the halves that differ
	}{
		"defaults": {func(o *startOptions) {
			k := &o.cfg.Keep
			k.Workers, k.Concurrency, k.Restart, k.Preload, k.MaxMemory = 1, 1, "always", "auto", -1
			o.cfg.Timeouts = runner.Timeouts{Start: runner.DefaultImport, Stop: runner.DefaultStop, Call: runner.DefaultCall}
			o.cfg.Transport, o.cfg.GRPC.MTLS, o.events = "pipe", &no, "file"
		}, false, false},
		"workers":     {func(o *startOptions) { o.cfg.Keep.Workers = 2 }, true, false},
		"environment": {func(o *startOptions) { o.cfg.Env = []string{"A=B"} }, true, false},
		"directory":   {func(o *startOptions) { o.cfg.Dir = os.TempDir() }, true, false},
		"limit":       {func(o *startOptions) { o.cfg.Timeouts.Call = time.Second }, false, true},
		"watch":       {func(o *startOptions) { o.watch = true }, false, true},
	} {
		how, rest, _ := strings.Cut(digest(c.change), ".")
		if oldHow, oldRest, _ := strings.Cut(plain, "."); how != oldHow != c.how || rest != oldRest != c.rest {
			t.Errorf("%s: got %s.%s, and without %s", name, how, rest, plain)
		}
	}
}

// No command has two flags with one name.
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

// A hint with a flag of start tells a caller to start the plugin again.
func TestStartedWith(t *testing.T) {
	for hint, want := range map[string]string{
		"--nan null lets such numbers pass": "--nan null lets such numbers pass: `pyplug stop n`, then start it again with that",
		"--queue lets more calls wait":      "--queue lets more calls wait: `pyplug stop n`, then start it again with that",
		"allow more time with --timeout":    "allow more time with --timeout",
		"did you mean greet?":               "did you mean greet?",
	} {
		if got := startedWith("n", []string{"first", hint}); got[0] != "first" || got[1] != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
