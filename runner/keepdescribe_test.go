package runner_test

import (
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/runnertest"
)

// TestKeepDescribesBusy tells the hooks while a worker is busy that was never asked, if
// the one before it was and came from the same files.
func TestKeepDescribesBusy(t *testing.T) {
	for _, preload := range []string{"off", "auto"} {
		t.Run("preload "+preload, func(t *testing.T) {
			runnertest.NothingLeft(t)
			cfg := file(t, busybody)
			cfg.Keep.Preload = preload
			k := keep(t, cfg)
			if _, err := k.Hooks(t.Context(), ""); err != nil {
				t.Fatal(err)
			}
			if _, err := k.Call(t.Context(), call("die", "")); kindOf(err) != hook.Crash {
				t.Fatalf("got %v, want a crash", err)
			}
			path := filepath.Join(t.TempDir(), "until")
			var calls sync.WaitGroup
			calls.Go(func() { answers(t, k, call("wait", `["`+path+`"]`), `"`+path+`"`) })
			runnertest.Until(t, "the call", runnertest.Exists(path+".began"))
			s, err := k.Hooks(t.Context(), "")
			if err != nil || len(s.Hooks) != 6 {
				t.Errorf("got %+v, %v", s, err)
			}
			if one, err := k.Hooks(t.Context(), "nap"); err != nil || len(one.Hooks) != 1 || !strings.Contains(string(one.Hooks[0].Template), "seconds") {
				t.Errorf("got %+v, %v", one, err)
			}
			put(t, cfg.Cwd, "plug.py", busybody+"def more(): pass\n")
			put(t, filepath.Dir(path), "until", "")
			calls.Wait()
			if err := k.Restart(t.Context(), "a test"); err != nil {
				t.Fatal(err)
			}
			if s, err := k.Hooks(t.Context(), ""); err != nil || len(s.Hooks) != 7 {
				t.Errorf("got %+v, %v", s, err)
			}
		})
	}
}
