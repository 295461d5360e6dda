package service

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/pyplug/pyplug/runner"
	"github.com/pyplug/pyplug/runner/plan"
	"github.com/pyplug/pyplug/runner/runnertest"
	"github.com/pyplug/pyplug/runner/settings"
)

func TestChangeOf(t *testing.T) {
	for want, files := range map[string][]string{
		"a.py changed":            {"/p/a.py"},
		"a.py and others changed": {"/p/a.py", "/p/b.py", "/p/c.py", "/p/d.py"},
	} {
		if got := changeOf(files); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// TestReloadCanceled checks that a reload canceled by a further change is not reported, and that
// the next one is.
func TestReloadCanceled(t *testing.T) {
	runnertest.NothingLeft(t)
	file := filepath.Join(t.TempDir(), "greeter.py")
	if err := os.WriteFile(file, []byte("def greet(): pass\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	opened, err := runner.Open(t.Context(), plan.Config{Plugin: file, Settings: settings.Settings{Python: runnertest.Python(t)}, Environ: os.Environ(), Cwd: filepath.Dir(file)})
	if err != nil {
		t.Fatal(err)
	}
	s := New(Options{}, silent{t})
	s.Keeper = opened
	if err := opened.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := opened.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s.reload(ctx, []string{file})
	if s.changes.broken != "" {
		t.Errorf("the files count as broken: %s", s.changes.broken)
	}
}

// silent is a [Reporter] that must not be called.
type silent struct{ *testing.T }

func (t silent) Warn(err error)     { t.Errorf("warned of %v", err) }
func (t silent) Log(_, text string) { t.Errorf("reported %q", text) }
func (t silent) Attach(_ context.Context, line string) error {
	t.Errorf("reported %q", line)
	return nil
}
