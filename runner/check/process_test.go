package check

import (
	"context"
	"errors"
	"fmt"
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

// TestProcess compares the process of check with a plugin that is kept alive: both make the same
// calls of the manifest, and a failed call is the same error.
func TestProcess(t *testing.T) {
	runnertest.NothingLeft(t)
	python := runnertest.Python(t)
	const plugin = `
import os, time
def made(end=""):
    with open("calls", "a") as calls:
        calls.write(end + "\n")
    if end == "raise":
        raise ValueError(end)
    if end == "exit":
        os._exit(3)
    while end == "hang":
        time.sleep(0.001)
`
	for _, tt := range []struct {
		bootstrap, shutdown string
		start, stop         hook.Kind // "" if no error is expected
		calls               string    // "" if the call may end before it begins
	}{
		{bootstrap: "", shutdown: "", calls: "\n\n"},
		{bootstrap: "raise", start: hook.Failed, calls: "raise\n"},
		{bootstrap: "exit", start: hook.Crash, calls: "exit\n"},
		{bootstrap: "hang", start: hook.Timeout},
		{shutdown: "raise", stop: hook.Failed, calls: "\nraise\n"},
		{shutdown: "exit", stop: hook.Crash, calls: "\nexit\n"},
	} {
		t.Run(fmt.Sprintf("bootstrap %q shutdown %q", tt.bootstrap, tt.shutdown), func(t *testing.T) {
			kept := func(ctx context.Context, cfg plan.Config) (start, stop error) {
				o, err := runner.Open(ctx, cfg)
				if err != nil {
					t.Fatal(err)
				}
				if err := o.Start(ctx); err != nil {
					return err, nil
				}
				return nil, o.Close(ctx)
			}
			checked := func(ctx context.Context, cfg plan.Config) (start, stop error) {
				p, err := open(ctx, cfg)
				if err != nil {
					t.Fatal(err)
				}
				start = p.Start(ctx)
				stop, err = p.Close(ctx)
				if err != nil {
					t.Error(err)
				}
				return start, stop
			}
			for name, use := range map[string]func(context.Context, plan.Config) (start, stop error){"kept": kept, "checked": checked} {
				dir := t.TempDir()
				manifest := fmt.Sprintf("entry = \"plug.py\"\nbootstrap = [{hook = \"made\", args = [%q]}]\nshutdown = [{hook = \"made\", args = [%q]}]\n", tt.bootstrap, tt.shutdown)
				for file, text := range map[string]string{"plug.py": plugin, "pyplug.toml": manifest} {
					if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
						t.Fatal(err)
					}
				}
				cfg := plan.Config{Plugin: dir, Settings: settings.Settings{Python: python}, Environ: os.Environ(), Cwd: dir}
				if tt.bootstrap == "hang" {
					cfg.Timeouts.Call = 50 * time.Millisecond
				}
				start, stop := use(t.Context(), cfg)
				if kindOf(start) != tt.start || kindOf(stop) != tt.stop {
					t.Errorf("%s: start %v, stop %v; want kinds %q, %q", name, start, stop, tt.start, tt.stop)
				}
				calls, err := os.ReadFile(filepath.Join(dir, "calls"))
				if tt.calls != "" && (err != nil || strings.ReplaceAll(string(calls), "\r\n", "\n") != tt.calls) {
					t.Errorf("%s: calls %q, %v; want %q", name, calls, err, tt.calls)
				}
			}
		})
	}
}

// kindOf returns the kind of an error, or "".
func kindOf(err error) hook.Kind {
	if e := (*hook.Error)(nil); errors.As(err, &e) {
		return e.Kind
	}
	return ""
}
