package runner_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pyplug/pyplug/runner"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/plan"
	"github.com/pyplug/pyplug/runner/runnertest"
	"github.com/pyplug/pyplug/runner/settings"
)

// diary is a plugin that records the calls of its hooks.
const diary = `
import os

def note(text):
    if text == "bad":
        raise ValueError("a bad note")
    with open(os.environ["DIARY"], "a") as f:
        f.write(text + "\n")
`

// plugin makes a directory with a manifest and the diary. It returns the configuration and the path
// of the file that the hooks write.
func plugin(t *testing.T, manifest string) (plan.Config, string) {
	t.Helper()
	python := runnertest.Python(t)
	dir := t.TempDir()
	for name, text := range map[string]string{"diary.py": diary, "pyplug.toml": "entry = \"diary.py\"\n" + manifest} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	written := filepath.Join(dir, "written")
	return plan.Config{Plugin: dir, Environ: os.Environ(), Cwd: dir, Settings: settings.Settings{Python: python, Env: []string{"DIARY=" + written}}}, written
}

func note(text string) hook.Call {
	return hook.Call{Hook: "note", Args: hook.Args{JSON: []byte(`["` + text + `"]`)}}
}

func TestBootstrapAndShutdown(t *testing.T) {
	runnertest.NothingLeft(t)
	cfg, written := plugin(t, `
[[bootstrap]]
hook = "note"
args = ["first"]
[[bootstrap]]
hook = "note"
args = { text = "second" }
[[shutdown]]
hook = "note"
args = ["last"]
`)
	cfg.Once = true
	o, err := runner.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	s := o
	err = o.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Call(t.Context(), note("third")); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second Close does nothing
		if err := s.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(written)
	if err != nil || strings.Join(strings.Fields(string(text)), " ") != "first second third last" {
		t.Errorf("the diary says %q, %v", text, err)
	}
}

func TestFailedBootstrapLeavesNothing(t *testing.T) {
	runnertest.NothingLeft(t)
	cfg, written := plugin(t, "[[bootstrap]]\nhook = \"note\"\nargs = [\"bad\"]\n[[shutdown]]\nhook = \"note\"\nargs = [\"last\"]\n")
	o, err := runner.Open(t.Context(), cfg)
	if err == nil {
		err = o.Start(t.Context())
	}
	var e *hook.Error
	if !errors.As(err, &e) || e.Kind != hook.Failed || e.Hook != "note" || e.Python == nil {
		t.Fatalf("got %v, want what the bootstrap raised", err)
	}
	if _, err := os.Stat(written); err == nil {
		t.Error("a shutdown call was made for a bootstrap that failed")
	}
}

func TestSettings(t *testing.T) {
	runnertest.NothingLeft(t)
	cfg, _ := plugin(t, "[timeouts]\ncall = \"7s\"\nstop = 3\n")
	cfg.Timeouts.Stop = time.Second
	cfg.Once = true
	o, err := runner.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	s := o
	err = o.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}()
	got := o.Config
	want := settings.Timeouts{
		Start: 10 * time.Minute, // the default
		Call:  7 * time.Second,  // from the manifest
		Stop:  time.Second,      // from the flag, which precedes the manifest
		Probe: 2 * time.Second,
	}
	if got.Timeouts != want || got.Transport != "pipe" || o.Dir != cfg.Cwd {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if o.Plugin.ID != "diary" || o.Interpreter().Path != cfg.Python {
		t.Errorf("plugin %q, python %q", o.Plugin.ID, o.Interpreter().Path)
	}
}

// TestOpenFails checks the kinds of the errors of Open, and that the result can be closed.
func TestOpenFails(t *testing.T) {
	runnertest.NothingLeft(t)
	for name, c := range map[string]struct {
		change func(*plan.Config)
		kind   hook.Kind
	}{
		"no such plugin":      {func(c *plan.Config) { c.Plugin = "nosuch.py" }, hook.Usage},
		"no such python":      {func(c *plan.Config) { c.Python = "nosuch" }, hook.Interpreter},
		"no such directory":   {func(c *plan.Config) { c.WorkDir = "nosuch" }, hook.Usage},
		"directory is a file": {func(c *plan.Config) { c.WorkDir = "diary.py" }, hook.Usage},
		"no grpc plugin":      {func(c *plan.Config) { c.Transport = "grpc" }, hook.Start},
		"an executable":       {func(c *plan.Config) { c.Plugin, c.Python = c.Python, "" }, hook.Start},
		"an executable, pipe": {func(c *plan.Config) { c.Plugin, c.Python, c.Transport = c.Python, "", "pipe" }, hook.Usage},
		"no such proto":       {func(c *plan.Config) { c.Transport, c.Proto = "grpc", []string{"nosuch.proto"} }, hook.Usage},
		"no such protoset":    {func(c *plan.Config) { c.Transport, c.Protoset = "grpc", []string{"nosuch"} }, hook.Usage},
	} {
		t.Run(name, func(t *testing.T) {
			cfg, _ := plugin(t, "")
			c.change(&cfg)
			o, err := runner.Open(t.Context(), cfg)
			if err == nil {
				err = o.Start(t.Context())
			}
			var e *hook.Error
			if !errors.As(err, &e) || e.Kind != c.kind {
				t.Errorf("got %v, want kind %v", err, c.kind)
			}
		})
	}
}
