package pyworker_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/pyworker"
	"github.com/pyplug/pyplug/runner/runnertest"
)

// TestPreloadBuffers holds that what the import has left in the buffer of a file is
// written once, and what workers write is written by each.
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

// TestEndHangs holds that a call ends when the main thread of its worker has, though
// the process hangs in an atexit handler or waits for a thread.
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
