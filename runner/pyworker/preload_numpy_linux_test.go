package pyworker_test

import (
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/pyworker"
	"github.com/pyplug/pyplug/runner/runnertest"
)

// multiplies is a plugin whose import makes OpenBLAS start and use threads.
const multiplies = `
import hashlib, numpy
whole = numpy.arange(16384.0).reshape(128, 128) % 7
square = whole @ whole
parts = numpy.sin(whole + 1)
def multiply(count):
    """Reports whether all products are right, here and in a child at the same time."""
    child = os.fork()
    right = all((whole @ whole == square).all() for _ in range(count))
    if not child:
        os._exit(not right)
    return right and os.waitpid(child, 0)[1] == 0
def product(): return hashlib.sha256((parts @ parts).tobytes()).hexdigest(), len(os.listdir("/proc/self/task"))
def environment(): return {name: value for name, value in os.environ.items() if "THREADS" in name}
def parent(): return os.getppid()
`

// TestPreloadNumpy checks that workers are forked although the import of numpy starts threads. Each
// has the same threads as a worker started by exec, and the same results to the last bit, even if
// all multiply at once. With PYPLUG_TEST_LONG=1 they multiply 1 000 times.
func TestPreloadNumpy(t *testing.T) {
	runnertest.NothingLeft(t)
	times := 5 // few, because OpenBLAS's threads spin while others use the processors
	if os.Getenv("PYPLUG_TEST_LONG") != "" {
		times = 1000
	}
	cfg := preloaded(t, plugin(t, multiplies))
	cfg.Python = runnertest.Packages(t, "numpy==2.4.6")
	cfg.Note = func(text string) { t.Errorf("note: %s", text) }
	l := pyworker.New(cfg)
	cfg.Preload = "off"
	execd := worker(t, pyworker.New(cfg))
	workers := []hook.Instance{worker(t, l), worker(t, l)}
	var all sync.WaitGroup
	for _, w := range append(workers, execd) {
		all.Go(func() {
			if r, err := w.Call(t.Context(), encode(t, "multiply", []int{times})); err != nil || string(r.Value) != "true" {
				t.Errorf("got %s, %v", r.Value, err)
			}
		})
	}
	all.Wait()
	for _, w := range append(workers, worker(t, l)) {
		if pid := parent(t, w); pid == os.Getpid() {
			t.Error("it was not forked")
		}
		for _, name := range []string{"product", "environment"} {
			if got, want := value(t, w, name), value(t, execd, name); got != want {
				t.Errorf("%s: got %s, by exec %s", name, got, want)
			}
		}
	}
}

// TestPreloadNumpyThreads checks that the note names the threads of a library that are left.
func TestPreloadNumpyThreads(t *testing.T) {
	if runtime.NumCPU() == 1 {
		t.Skip("OpenBLAS starts no threads for one processor")
	}
	runnertest.NothingLeft(t)
	path := plugin(t, "import numpy, _pyplug_zygote\n_pyplug_zygote.fork_once = lambda: None\n")
	cfg := preloaded(t, path)
	cfg.Python = runnertest.Packages(t, "numpy==2.4.6")
	var note string
	cfg.Note = func(text string) { note = text }
	worker(t, pyworker.New(cfg))
	if !strings.Contains(note, " threads after the import") {
		t.Errorf("note: %s", note)
	}
}
