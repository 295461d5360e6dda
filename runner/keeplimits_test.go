package runner_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pyplug/pyplug/runner"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/runnertest"
)

// TestKeepMemory has a worker take more than it may: once during a call, which
// ends it, and once and for all, after which it is replaced.
func TestKeepMemory(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux holds limits")
	}
	runnertest.NothingLeft(t)
	cfg := file(t, `
import os, time
kept = []
def pid(): return os.getpid()
def hold(mb): kept.append(b"x" * (mb << 20))
def hog():
    while True:
        hold(10)
        time.sleep(0.001)
`)
	cfg.Keep = runner.Keep{MaxMemory: 200 << 20}
	k := keep(t, cfg)
	_, err := k.Call(t.Context(), call("hog", ""))
	if e := (*hook.Error)(nil); !errors.As(err, &e) || e.Kind != hook.Crash || e.Exit == nil || !strings.Contains(e.Exit.Limit, "200 MB") {
		t.Fatalf("got %#v, want a crash by the limit", err)
	}
	answers(t, k, call("hold", "[0]"), "null")
	before := k.status()
	if _, err := k.Call(t.Context(), call("hold", "[175]")); err != nil { // four fifths are 160
		t.Fatal(err)
	}
	if now := k.status(); now.Memory < 175<<20 && now.Generation == before.Generation {
		t.Errorf("it takes %d bytes", now.Memory)
	}
	runnertest.Until(t, "another worker", func() bool { return k.status().Generation > before.Generation })
	if _, err := k.Call(t.Context(), call("pid", "")); err != nil {
		t.Error(err)
	}
	runnertest.Until(t, "less memory", func() bool { return k.status().Memory < 100<<20 })
}

// TestKeepHungHealth has a probe that is not answered in time, and that leaves the
// worker as it was.
func TestKeepHungHealth(t *testing.T) {
	runnertest.NothingLeft(t)
	k := keep(t, file(t, busybody+"def health(): time.sleep(3600)\n"))
	runnertest.Retry(t, func() error {
		before := k.status().PID
		for range 2 {
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			if err := k.Health(ctx); kindOf(err) != hook.Timeout {
				t.Errorf("got %v, want a timeout", err)
			}
			cancel()
			answers(t, k, call("ok", "[1]"), "1")
		}
		if st := k.status(); st.PID != before || st.State != hook.StateReady {
			return fmt.Errorf("got %+v, want pid %d", st, before)
		}
		return nil
	})
}

// TestKeepThreadsHang has a call hang in C code, in a worker with threads: it gets no
// further calls, those that run in it end, and its replacement answers meanwhile.
func TestKeepThreadsHang(t *testing.T) {
	runnertest.NothingLeft(t)
	cfg := file(t, busybody)
	cfg.Keep = runner.Keep{Concurrency: 3, Threads: true}
	k := keep(t, cfg)
	until := filepath.Join(t.TempDir(), "until")
	var calls sync.WaitGroup
	calls.Go(func() { answers(t, k, call("wait", `["`+until+`"]`), `"`+until+`"`) })
	runnertest.Until(t, "the other call", runnertest.Exists(until+".began"))
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := k.Call(ctx, call("nap", "[3600]")); kindOf(err) != hook.Timeout {
		t.Errorf("got %v, want a timeout", err)
	}
	answers(t, k, call("ok", "[1]"), "1")
	if st := k.status(); st.Generation != 2 || st.Running != 1 || st.Failed != 1 {
		t.Errorf("got %+v, want a replacement beside the other call", st)
	}
	put(t, filepath.Dir(until), "until", "")
	calls.Wait()
}

// TestKeepConcurrency has calls meet in one worker, as many as are allowed.
func TestKeepConcurrency(t *testing.T) {
	const text = `
import asyncio, threading
here, most, lock = 0, 0, threading.Lock()
def enter(step):
    global here, most
    with lock:
        here += step
        most = max(most, here)
async def coroutine():
    enter(1)
    for _ in range(1000):
        if most == 4: break
        await asyncio.sleep(0.01)
    enter(-1)
gate = threading.Event()
def thread():
    enter(1)
    if most == 4: gate.set()
    gate.wait(10)
    enter(-1)
def met(): return most
`
	for name, keeps := range map[string]runner.Keep{
		"coroutine": {Concurrency: 4}, "thread": {Concurrency: 4, Threads: true},
	} {
		t.Run(name, func(t *testing.T) {
			runnertest.NothingLeft(t)
			cfg := file(t, text)
			cfg.Keep = keeps
			k := keep(t, cfg)
			var calls sync.WaitGroup
			for range 8 {
				calls.Go(func() {
					if _, err := k.Call(t.Context(), call(name, "")); err != nil {
						t.Error(err)
					}
				})
			}
			calls.Wait()
			answers(t, k, call("met", ""), "4")
		})
	}
}
