package runner_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/runnertest"
)

// read is what the diary of plugin says, in one line.
func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return strings.Join(strings.Fields(string(text)), " ")
}

// TestKeepReplays holds the order of the manifest's calls and of those that are
// replayed, now and after each start.
func TestKeepReplays(t *testing.T) {
	runnertest.NothingLeft(t)
	cfg, written := plugin(t, `
[[bootstrap]]
hook = "note"
args = ["boot"]
[[shutdown]]
hook = "note"
args = ["bye"]
`)
	k := keep(t, cfg)
	for _, text := range []string{"one", "two"} {
		if _, err := k.replay(t.Context(), note(text)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := k.replay(t.Context(), note("bad")); kindOf(err) != hook.Failed {
		t.Errorf("got %v, want what the call raised", err)
	}
	if _, err := k.replay(t.Context(), hook.Call{Hook: "note", Input: messages}); kindOf(err) != hook.Request {
		t.Errorf("got %v, want no replay of a stream of input", err)
	}
	if err := k.Restart(t.Context(), "a test"); err != nil {
		t.Fatal(err)
	}
	if err := k.Close(t.Context()); err != nil {
		t.Error(err)
	}
	// The old worker ends beside the start of the new one.
	got := read(t, written)
	if strings.Replace(got, "bye ", "", 1) != "boot one two boot one two bye" {
		t.Errorf("the diary says %q", got)
	}
}

func messages(func(json.RawMessage, error) bool) {}

// TestKeepRestart replaces the workers while calls go on.
func TestKeepRestart(t *testing.T) {
	runnertest.NothingLeft(t)
	cfg := file(t, busybody)
	cfg.Keep.Workers = 2
	k := keep(t, cfg)
	runnertest.Until(t, "two workers", func() bool { return k.status().Ready == 2 })
	pids := func() []string {
		var seen []string
		for range 200 { // each of two workers gets some
			var both sync.WaitGroup
			for range 2 {
				both.Go(func() { _, _ = k.Call(t.Context(), call("nap", "[0.001]")) })
			}
			r, err := k.Call(t.Context(), call("pid", ""))
			both.Wait()
			if err != nil {
				t.Fatal(err)
			}
			if pid := string(r.Value); !slices.Contains(seen, pid) {
				seen = append(seen, pid)
			}
			if len(seen) == 2 {
				break
			}
		}
		return seen
	}
	before := pids()
	ctx, cancel := context.WithCancel(t.Context())
	var calls sync.WaitGroup
	calls.Go(func() {
		for ctx.Err() == nil {
			if _, err := k.Call(t.Context(), call("ok", "[1]")); err != nil {
				t.Errorf("a call failed: %v", err)
			}
		}
	})
	if err := k.Restart(t.Context(), "a test"); err != nil {
		t.Error(err)
	}
	cancel()
	calls.Wait()
	for _, pid := range pids() {
		if slices.Contains(before, pid) {
			t.Errorf("pid %s still answers", pid)
		}
	}
}

// TestKeepBroken breaks the file of a plugin and mends it. A start that fails
// for good is not tried again until then.
func TestKeepBroken(t *testing.T) {
	runnertest.NothingLeft(t)
	const counted = "open('starts', 'a').write('x')\n"
	cfg := file(t, counted+busybody)
	k := keep(t, cfg)
	put(t, cfg.Cwd, "plug.py", counted+"import nosuchmodule\n")
	if _, err := k.Call(t.Context(), call("die", "")); kindOf(err) != hook.Crash {
		t.Fatalf("got %v, want a crash", err)
	}
	for range 5 {
		if _, err := k.Call(t.Context(), call("ok", "[1]")); kindOf(err) != hook.Start || !strings.Contains(err.Error(), "nosuchmodule") {
			t.Fatalf("got %v, want the import's error", err)
		}
	}
	if starts := read(t, filepath.Join(cfg.Cwd, "starts")); starts != "xx" {
		t.Errorf("started %d times, want twice", len(starts))
	}
	put(t, cfg.Cwd, "plug.py", counted+busybody+"\n# mended\n")
	answers(t, k, call("ok", "[1]"), "1")
	if st := k.status(); st.State != hook.StateReady {
		t.Errorf("got %+v", st)
	}
}

// TestKeepDescribesBusy returns the hooks while a worker is busy that was never asked, if
// the one before it was, and came from the same files.
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
			if err != nil || len(s.Hooks) != 5 {
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
			if s, err := k.Hooks(t.Context(), ""); err != nil || len(s.Hooks) != 6 {
				t.Errorf("got %+v, %v", s, err)
			}
		})
	}
}
