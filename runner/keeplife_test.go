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
	"time"

	"github.com/pyplug/pyplug/runner"
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

// TestKeepReplaysEverywhere makes a call in each worker, once.
func TestKeepReplaysEverywhere(t *testing.T) {
	runnertest.NothingLeft(t)
	cfg, written := plugin(t, "workers = 3\n")
	k := keep(t, cfg)
	if _, err := k.replay(t.Context(), note("early")); err != nil { // some may still start
		t.Fatal(err)
	}
	runnertest.Until(t, "three workers", func() bool { return k.status().Ready == 3 })
	if _, err := k.replay(t.Context(), note("late")); err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(read(t, written), "early"); got != 3 {
		t.Errorf("the first call was made %d times, want 3", got)
	}
	if got := strings.Count(read(t, written), "late"); got != 3 {
		t.Errorf("the second call was made %d times, want 3", got)
	}
}

// TestKeepEvents looks at what is told of two workers.
func TestKeepEvents(t *testing.T) {
	runnertest.NothingLeft(t)
	cfg := file(t, busybody)
	var log events
	cfg.Keep = runner.Keep{Workers: 2, Events: log.take}
	k := keep(t, cfg)
	runnertest.Until(t, "two workers", func() bool { return k.status().Ready == 2 })
	for range 5 {
		_, _ = k.Call(t.Context(), call("die", ""))
	}
	runnertest.Until(t, "two workers", func() bool { return k.status().Ready == 2 })
	if err := k.Close(t.Context()); err != nil {
		t.Error(err)
	}
	log.mu.Lock()
	defer log.mu.Unlock()
	if log.twice {
		t.Error("two events were told at once")
	}
	last := map[int]hook.Event{}
	for _, e := range log.told {
		if e.Worker != 1 && e.Worker != 2 {
			t.Fatalf("worker %d in %+v", e.Worker, e)
		}
		if e.From != last[e.Worker].To {
			t.Errorf("worker %d went from %v, was %v", e.Worker, e.From, last[e.Worker].To)
		}
		last[e.Worker] = e
	}
	if last[1].To != hook.StateStopped || last[2].To != hook.StateStopped {
		t.Errorf("ended as %v and %v", last[1].To, last[2].To)
	}
}

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

// TestKeepGivesUp holds when it does, and what revives it.
func TestKeepGivesUp(t *testing.T) {
	runnertest.NothingLeft(t)
	cfg := file(t, busybody)
	cfg.Keep = runner.Keep{Restart: "no"}
	k := keep(t, cfg)
	if _, err := k.Call(t.Context(), call("die", "")); kindOf(err) != hook.Crash {
		t.Fatalf("got %v, want a crash", err)
	}
	<-k.Failed()
	if _, err := k.Call(t.Context(), call("ok", "[1]")); kindOf(err) != hook.Unavailable {
		t.Errorf("got %v, want it unavailable", err)
	}
	if err := k.Health(t.Context()); kindOf(err) != hook.Unavailable {
		t.Errorf("got %v, want it unavailable", err)
	}
	if st := k.status(); st.State != hook.StateFailed || st.PID != 0 || st.Ready != 0 {
		t.Errorf("got %+v", st)
	}
	if err := k.Restart(t.Context(), "a test"); err != nil {
		t.Fatal(err)
	}
	answers(t, k, call("ok", "[1]"), "1")
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

// TestKeepBudget gives up when it is spent, and stays so.
func TestKeepBudget(t *testing.T) {
	runnertest.NothingLeft(t)
	const counted = "import os\nopen('starts', 'a').write('x')\nif os.path.exists('bad'): raise OSError('busy')\n"
	cfg := file(t, counted+busybody)
	cfg.Keep = runner.Keep{MaxRestarts: 3, Backoff: time.Millisecond, Preload: "off"}
	k := keep(t, cfg)
	put(t, cfg.Cwd, "bad", "")
	if err := k.crash(); err != nil {
		t.Fatal(err)
	}
	<-k.Failed()
	for range 3 {
		_, err := k.Call(t.Context(), call("ok", "[1]"))
		if kindOf(err) != hook.Unavailable || !strings.Contains(err.Error(), "the plugin failed 3 times in a row; giving up") ||
			!strings.Contains(err.Error(), "busy") {
			t.Errorf("got %v, want that it gave up, and why", err)
		}
	}
	if starts := read(t, filepath.Join(cfg.Cwd, "starts")); starts != "xxx" { // the death was the first failure
		t.Errorf("started %d times, want 3", len(starts))
	}
}

// TestKeepBrokenEdit keeps the worker that there is when no other one starts.
func TestKeepBrokenEdit(t *testing.T) {
	runnertest.NothingLeft(t)
	cfg := file(t, busybody)
	k := keep(t, cfg)
	put(t, cfg.Cwd, "plug.py", "def")
	if err := k.Restart(t.Context(), "a test"); kindOf(err) != hook.Start {
		t.Errorf("got %v, want the syntax error", err)
	}
	answers(t, k, call("ok", "[1]"), "1")
	if st := k.status(); st.State != hook.StateReady || st.Generation != 1 || !strings.Contains(st.Note, "does not start") {
		t.Errorf("got %+v", st)
	}
	put(t, cfg.Cwd, "plug.py", busybody)
	if err := k.Restart(t.Context(), "a test"); err != nil {
		t.Error(err)
	}
	if st := k.status(); st.Generation != 3 || st.Note != "" {
		t.Errorf("got %+v", st)
	}
}

// TestKeepDrains lets what runs and waits end before it closes.
func TestKeepDrains(t *testing.T) {
	runnertest.NothingLeft(t)
	cfg := file(t, busybody)
	k := keep(t, cfg)
	gate := filepath.Join(cfg.Cwd, "gate")
	var calls sync.WaitGroup
	for range 3 {
		calls.Go(func() {
			if _, err := k.Call(t.Context(), call("wait", `["`+gate+`"]`)); err != nil {
				t.Errorf("a call failed: %v", err)
			}
		})
	}
	runnertest.Until(t, "the calls", func() bool { st := k.status(); return st.Running == 1 && st.Queued == 2 })
	calls.Go(func() {
		ctx, cancel := context.WithTimeout(t.Context(), runnertest.WaitTimeout)
		defer cancel()
		if err := k.Drain(ctx); err != nil {
			t.Error(err)
		}
	})
	runnertest.Until(t, "no call is taken any more", func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		_, err := k.Call(ctx, call("ok", "[1]"))
		return kindOf(err) == hook.Unavailable
	})
	put(t, cfg.Cwd, "gate", "")
	calls.Wait()
}
