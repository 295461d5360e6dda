package pyworker_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/pyworker"
	"github.com/pyplug/pyplug/runner/runnertest"
)

// oneProcessor has callers read for themselves.
func oneProcessor(t *testing.T) {
	before := runtime.GOMAXPROCS(1)
	t.Cleanup(func() { runtime.GOMAXPROCS(before) })
}

// TestCallersRead has calls of every kind come after quick ones, on one processor:
// their callers wait for them in their threads, for a moment.
func TestCallersRead(t *testing.T) {
	runnertest.NothingLeft(t)
	oneProcessor(t)
	plugin := filepath.Join(t.TempDir(), "kinds.py")
	source := `import os, time
def quick(): return 1
def slow(): time.sleep(0.02); return 2
def hang(): time.sleep(3600)
def large(): return "x" * 3_000_000
def items():
    for i in range(3):
        print("item", i)
        yield i
def prints(n): print("printed", n); return n
def signals(): os.kill(os.getpid(), 2); time.sleep(60)
def dies(): os._exit(7)
`
	if err := os.WriteFile(plugin, []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var printed []string
	cfg := config(t, plugin)
	cfg.Output = func(_, text string, _ int) {
		mu.Lock()
		defer mu.Unlock()
		printed = append(printed, text)
	}
	l := pyworker.New(cfg)
	inst, err := l.Launch(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	call := func(name, args string, limit time.Duration) (string, error) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		defer cancel()
		for range 5 {
			if r, err := inst.Call(t.Context(), hook.Call{Hook: "quick"}); err != nil || string(r.Value) != "1" {
				t.Fatalf("quick: %s, %v", r.Value, err)
			}
		}
		r, err := inst.Call(ctx, hook.Call{Hook: name, Args: hook.Args{JSON: []byte(args)}})
		return string(r.Value), err
	}
	for name, want := range map[string]string{
		"slow": "2", "items": "[0,1,2]", "large": `"` + strings.Repeat("x", 3_000_000) + `"`,
	} {
		if got, err := call(name, "[]", time.Minute); err != nil || got != want {
			t.Errorf("%s: %.40s, %v", name, got, err)
		}
	}
	for n := range 50 {
		text := string(encode(t, "", []int{n}).Args.JSON)
		if _, err := call("prints", text, time.Minute); err != nil {
			t.Fatal(err)
		}
		mu.Lock()
		last := printed[len(printed)-1]
		mu.Unlock()
		if want := "printed " + strings.Trim(text, "[]"); last != want {
			t.Errorf("when the answer came %q was the last that was printed, want %q", last, want)
		}
	}
	runnertest.Tries(t, func() error {
		if _, err := call("quick", "[]", time.Minute); err != nil {
			t.Fatal(err)
		}
		if !pyworker.CallersRead(inst) {
			return errors.New("callers do not read for themselves after quick calls")
		}
		return nil
	})
	_, err = call("signals", "[]", time.Minute)
	if e := kind(t, err, hook.Failed); e.Error() != "interrupted by a signal that is not pyplug's" {
		t.Errorf("a hook that interrupts itself: %v", e)
	}
	_, err = call("dies", "[]", time.Minute)
	if e := kind(t, err, hook.Crash); e.Exit == nil || e.Exit.Code != 7 {
		t.Errorf("got %+v", e)
	}
	if _, err := inst.Call(t.Context(), hook.Call{Hook: "quick"}); err == nil || errors.Is(err, context.Canceled) {
		t.Errorf("after its death: %v", err)
	}
	if inst, err = l.Launch(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = inst.Stop(context.Background()) })
	_, err = call("hang", "[]", 20*time.Millisecond)
	if e := kind(t, err, hook.Timeout); len(e.At) == 0 || e.At[len(e.At)-1].Function != "hang" {
		t.Errorf("it was at %+v", e.At)
	}
}
