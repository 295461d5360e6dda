package service

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pyplug/pyplug/runner"
	"github.com/pyplug/pyplug/runner/daemon"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/plan"
	"github.com/pyplug/pyplug/runner/runnertest"
	"github.com/pyplug/pyplug/runner/schema"
	"github.com/pyplug/pyplug/runner/settings"
)

// TestDifference checks differences in the Python and in the flags.
func TestDifference(t *testing.T) {
	running := daemon.Identity{Name: "n", Python: "/a/python", Digest: "a.b"}
	for _, c := range []struct {
		python string
		digest string
		auto   bool
		want   string
	}{
		{"/a/python", "a.b", false, ""},
		{"/a/python", "x.b", false, "n runs with other settings; run `pyplug stop n`"},
		{"/a/python", "a.x", false, "n runs with other settings; run `pyplug stop n`"},
		{"/a/python", "a.x", true, ""}, // the settings behind the dot do not affect a call
		{"/a/python", "x.b", true, "n runs with other settings; "},
		{"/b/python", "x.b", false, "n runs with another Python, /a/python, and now it would be /b/python; "},
	} {
		wanted := daemon.Identity{Name: "n", Python: schema.Path(c.python), Digest: c.digest, AutoStarted: c.auto}
		got := difference(running, wanted)
		if !strings.HasPrefix(got, c.want) || (got == "") != (c.want == "") {
			t.Errorf("%+v: got %q", c, got)
		}
	}
}

// TestDigest checks that the digest depends on the settings, not on the form of the flags.
func TestDigest(t *testing.T) {
	plugin := filepath.Join(t.TempDir(), "plugin.py")
	if err := os.WriteFile(plugin, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	python := runnertest.Python(t)
	digest := func(change func(o *Options)) string {
		t.Helper()
		var o Options
		o.Config = plan.Config{Plugin: plugin, Settings: settings.Settings{Python: python}, Cwd: t.TempDir(), Environ: os.Environ()}
		change(&o)
		s, err := runner.Open(t.Context(), o.Config)
		if err != nil {
			t.Fatal(err)
		}
		return identity(s, o, "n").Digest
	}
	plain := digest(func(*Options) {})
	for name, c := range map[string]struct {
		change    func(o *Options)
		how, rest bool // the halves of the digest that must differ
	}{
		"defaults": {func(o *Options) {
			s := settings.Defaults()
			s.Python, s.Transport, s.ProtocolVersions, s.MaxMessage = python, "pipe", nil, 0 // the last two do not apply to a functions file
			o.Config.Settings = s
		}, false, false},
		"workers":     {func(o *Options) { o.Config.Workers = 2 }, true, false},
		"environment": {func(o *Options) { o.Config.Env = []string{"A=B"} }, true, false},
		"directory":   {func(o *Options) { o.Config.WorkDir = os.TempDir() }, true, false},
		"limit":       {func(o *Options) { o.Config.Timeouts.Call = time.Second }, false, true},
		"watch":       {func(o *Options) { o.Config.Watch = settings.On }, false, true},
	} {
		how, rest, _ := strings.Cut(digest(c.change), ".")
		if oldHow, oldRest, _ := strings.Cut(plain, "."); how != oldHow != c.how || rest != oldRest != c.rest {
			t.Errorf("%s: got %s.%s, and without %s", name, how, rest, plain)
		}
	}
}

// TestForCaller checks that a hint about a start flag tells the caller to restart the plugin.
func TestForCaller(t *testing.T) {
	nan, timeout := schema.Setting("nan"), schema.CallSetting("timeout")
	env := schema.Hintf("run %s", schema.EnvLine("python -m venv e"))
	for _, c := range []struct {
		hint schema.Hint
		want []string
	}{
		{schema.Hintf("pass %s null", nan), []string{"pass --nan null; to apply it, run `pyplug stop n`, then start it again"}},
		{schema.Hintf("allow more time with %s", timeout), []string{"allow more time with --timeout"}},
		{schema.Hintf("it said --nan"), []string{"it said --nan"}}, // as text, not as a setting
		{schema.Hintf("nothing is installed: %s", env), []string{"nothing is installed: run python -m venv e",
			"run `pyplug stop n`, then start it again, to use the environment that this makes"}},
	} {
		got := hook.Words(forCaller("n", []schema.Hint{schema.Hintf("first"), c.hint}))
		if got[0] != "first" || !slices.Equal(got[1:], c.want) {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}
