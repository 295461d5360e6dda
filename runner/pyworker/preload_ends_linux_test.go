package pyworker_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/pyworker"
	"github.com/pyplug/pyplug/runner/runnertest"
)

// TestPreloadBuffers checks that text that the import left in the buffer of a file is written once,
// and that the text of each worker is written.
func TestPreloadBuffers(t *testing.T) {
	runnertest.NothingLeft(t)
	path := plugin(t, `
f = open(os.path.join(os.path.dirname(__file__), "out"), "a")
f.write("import\n")
def put(): f.write("put\n")
`)
	l := preloading(t, path)
	t.Cleanup(func() {
		if err := l.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	for range 3 {
		w, err := l.Launch(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Call(t.Context(), hook.Call{Hook: "put"}); err != nil {
			t.Error(err)
		}
		if err := w.Stop(t.Context()); err != nil {
			t.Error(err)
		}
	}
	text, err := os.ReadFile(filepath.Join(filepath.Dir(path), "out"))
	if want := "import\n" + strings.Repeat("put\n", 3); err != nil || string(text) != want {
		t.Errorf("got %q, %v, want %q", text, err, want)
	}
}

// TestEndHangs checks that a call fails when the main thread of its worker ends, although the
// process hangs in an atexit handler or waits for a thread.
func TestEndHangs(t *testing.T) {
	runnertest.NothingLeft(t)
	for name, hang := range map[string]string{
		"atexit": "import atexit; atexit.register(time.sleep, 600)",
		"thread": "import threading; threading.Thread(target=time.sleep, args=(600,), daemon=False).start()",
	} {
		t.Run(name, func(t *testing.T) {
			cfg := config(t, plugin(t, `
import signal, sys, time
ended = []
def leave(*_):
    if not ended:
        ended.append(True)
        sys.exit(3)
signal.signal(signal.SIGTERM, leave)
`+hang+`
def end():
    while not ended:  # the main thread misses a signal that comes just before it waits
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(0.05)
    time.sleep(600)
`))
			cfg.Concurrency, cfg.Threads = 2, true
			w := worker(t, pyworker.New(cfg))
			ctx, cancel := context.WithTimeout(t.Context(), runnertest.WaitTimeout)
			defer cancel()
			_, err := w.Call(ctx, hook.Call{Hook: "end"})
			if e := hook.AsError(err); e == nil || e.Kind != hook.Crash {
				t.Errorf("got %v, want a crash", err)
			}
		})
	}
}

// TestMainThreadEnds checks that a worker whose main thread has ended takes no calls, and that a
// probe detects it, although a forked child holds its pipe and a thread keeps it alive.
func TestMainThreadEnds(t *testing.T) {
	runnertest.NothingLeft(t)
	for name, end := range map[string]string{
		"a signal handler": `
def leave(signum, frame):
    if frame.f_code.co_name == "fill":  # the worker waits for a frame
        signal.signal(signal.SIGUSR1, signal.SIG_IGN)
        sys.exit(3)
def signals():
    while signal.getsignal(signal.SIGUSR1) is leave:
        os.kill(os.getpid(), signal.SIGUSR1)
        time.sleep(0.01)
signal.signal(signal.SIGUSR1, leave)
def end(): threading.Thread(target=signals).start()
`,
		"the descriptor of the event loop": `
import asyncio
async def end():
    loop = asyncio.get_running_loop()
    loop.call_soon(os.close, loop._selector.fileno())
`,
		"all descriptors of the event loop": `
import asyncio
async def end(): asyncio.get_running_loop().call_soon(os.closerange, 3, 1000)
`,
	} {
		t.Run(name, func(t *testing.T) {
			w := worker(t, pyworker.New(config(t, plugin(t, `
import os, signal, sys, threading, time
`+end+`
def prepare():
    threading.Thread(target=time.sleep, args=(600,)).start()
    if os.fork() == 0:
        signal.pause()
def any(): return 1
`))))
			ctx, cancel := context.WithTimeout(t.Context(), runnertest.WaitTimeout)
			defer cancel()
			for _, name := range []string{"prepare", "end"} {
				if _, err := w.Call(ctx, hook.Call{Hook: name}); err != nil {
					t.Fatal(err)
				}
			}
			runnertest.Until(t, "a probe notices it", func() bool { return w.Probe(ctx) != nil })
			if _, err := w.Call(ctx, hook.Call{Hook: "any"}); hook.AsError(err) == nil || hook.AsError(err).Kind != hook.Unavailable {
				t.Errorf("a call: %v, want unavailable", err)
			}
			select {
			case <-w.Done():
			case <-ctx.Done():
				t.Error("the process lives on")
			}
		})
	}
}

// TestProbeWithoutMain checks that a probe detects a call that cannot end because a C function has
// ended the main thread.
func TestProbeWithoutMain(t *testing.T) {
	runnertest.NothingLeft(t)
	w := worker(t, pyworker.New(config(t, plugin(t, `
import ctypes, threading, time
def prepare(): threading.Thread(target=time.sleep, args=(600,)).start()
def end(): ctypes.CDLL(None).pthread_exit(None)
`))))
	ctx, cancel := context.WithTimeout(t.Context(), runnertest.WaitTimeout)
	defer cancel()
	if _, err := w.Call(ctx, hook.Call{Hook: "prepare"}); err != nil {
		t.Fatal(err)
	}
	failed := make(chan error, 1)
	go func() {
		_, err := w.Call(ctx, hook.Call{Hook: "end"})
		failed <- err
	}()
	runnertest.Until(t, "a probe notices it", func() bool {
		one, cancel := context.WithTimeout(ctx, time.Second) // the probe may wait for the call
		defer cancel()
		e := hook.AsError(w.Probe(one))
		return e != nil && e.Kind == hook.Crash
	})
	if e := hook.AsError(<-failed); e == nil || e.Kind != hook.Crash {
		t.Errorf("the call: %v, want a crash", e)
	}
}
