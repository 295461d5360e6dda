package pyworker_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/proc"
	"github.com/pyplug/pyplug/runner/pyworker"
	"github.com/pyplug/pyplug/runner/runnertest"
)

// TestPreloadZygoteStopped checks that a worker that has exited takes no call, although a suspended
// zygote does not report its status.
func TestPreloadZygoteStopped(t *testing.T) {
	runnertest.NothingLeft(t)
	l := preloading(t, plugin(t, "import os\ndef parent(): return os.getppid()\n"))
	w := worker(t, l)
	zygote := parent(t, w)
	if err := syscall.Kill(zygote, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	kill(t, w.Info().PID)
	runnertest.Until(t, "the worker has exited", func() bool { return pyworker.Exited(w) })
	_, err := w.Call(t.Context(), hook.Call{Hook: "parent"})
	if e := hook.AsError(err); e == nil || e.Kind != hook.Unavailable || e.Begun {
		t.Errorf("got %+v, want unavailable", e)
	}
	if err := syscall.Kill(zygote, syscall.SIGCONT); err != nil {
		t.Error(err)
	}
	<-w.Done()
}

func alive(pid int) bool { return syscall.Kill(pid, 0) == nil }

// TestPreloadSweeps checks that stopping one worker kills the processes that it left, and no
// others. A daemon without environment may belong to any worker, so it is killed with the last one.
func TestPreloadSweeps(t *testing.T) {
	runnertest.NothingLeft(t)
	path := plugin(t, `
import subprocess, sys, time
def daemon(clear, exec_):
    read, write = os.pipe()
    if not os.fork():
        os.setsid()
        pid = os.fork()
        if pid:
            os.write(write, str(pid).encode())
            os._exit(0)
        if exec_:
            os.execve("/bin/sleep", ["sleep", "1000"], {} if clear else os.environ)
        time.sleep(1000)
    os.wait()
    return int(os.read(read, 20))
def daemons(): return [daemon(False, False), daemon(False, True), daemon(True, True), subprocess.Popen(["sleep", "1000"]).pid]
def parent(): return os.getppid()
`)
	l := preloading(t, path)
	next := func() hook.Instance {
		w, err := l.Launch(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	one, two := next(), next()
	ofOne, ofTwo := pids(t, one), pids(t, two)
	if err := one.Stop(context.Background()); err != nil {
		t.Error(err)
	}
	if left := one.Exit().Left; len(left) != 3 {
		t.Errorf("left %q, want %v", left, ofOne)
	}
	for _, pid := range append(ofOne[:2:2], ofOne[3]) {
		if alive(pid) {
			t.Errorf("%d is there when its worker is gone", pid)
		}
	}
	zygote := parent(t, two)
	kill(t, zygote)
	runnertest.Until(t, "the zygote is gone", func() bool { return !alive(zygote) })
	three := next()
	for _, pid := range ofTwo {
		if !alive(pid) {
			t.Errorf("%d is gone, and its worker lives", pid)
		}
	}
	ofThree := pids(t, three)
	proc.Close()
	for _, pid := range slices.Concat(ofOne, ofTwo, ofThree) {
		if alive(pid) {
			t.Errorf("%d outlives it all", pid)
		}
	}
}

// pids calls the hook daemons, and returns its PIDs.
func pids(t *testing.T, w hook.Instance) (all []int) {
	t.Helper()
	for text := range strings.SplitSeq(strings.Trim(value(t, w, "daemons"), "[]"), ",") {
		var pid int
		if _, err := fmt.Sscan(text, &pid); err != nil {
			t.Fatal(err)
		}
		all = append(all, pid)
	}
	return all
}

// TestPreloadForks checks that user code can fork in a forked worker.
func TestPreloadForks(t *testing.T) {
	runnertest.NothingLeft(t)
	w := worker(t, preloading(t, zoo(t, "forks.py")))
	for name, want := range map[string]string{
		"fork": "5", "fork_and_return": `{"child":false}`, "pool": "[0,1,4,9]", "executor": "[0,1,4,9]", "threads": "[0,1,4,9]",
	} {
		if got := value(t, w, name); got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
	for _, method := range []string{"spawn", "forkserver"} {
		if r, err := w.Call(t.Context(), encode(t, "pool", []string{method})); err != nil || string(r.Value) != "[0,1,4,9]" {
			t.Errorf("%s: %s, %v", method, r.Value, err)
		}
	}
}

// TestPreloadThreads checks that calls can run in threads of a forked worker.
func TestPreloadThreads(t *testing.T) {
	runnertest.NothingLeft(t)
	path := plugin(t, "import threading\nmet = threading.Barrier(2, timeout=20)\ndef meet(): return met.wait() < 2\nasync def later(): return 1\n")
	cfg := preloaded(t, path)
	cfg.Concurrency, cfg.Threads = 2, true
	cfg.Note = func(text string) { t.Errorf("note: %s", text) }
	l := pyworker.New(cfg)
	for range 2 {
		w := worker(t, l)
		var both sync.WaitGroup
		for range 2 {
			both.Go(func() {
				if r, err := w.Call(t.Context(), hook.Call{Hook: "meet"}); err != nil || string(r.Value) != "true" {
					t.Errorf("got %s, %v", r.Value, err)
				}
			})
		}
		both.Wait()
		if got := value(t, w, "later"); got != "1" {
			t.Errorf("a coroutine: %s", got)
		}
	}
	if n := imports(t, path); n != 1 {
		t.Errorf("%d imports", n)
	}
}

// TestPreloadCrashes checks that crashes leave no descriptors and no zombies. It makes 10 000
// crashes with PYPLUG_TEST_LONG=1.
func TestPreloadCrashes(t *testing.T) {
	runnertest.NothingLeft(t)
	cycles := 200
	if os.Getenv("PYPLUG_TEST_LONG") != "" {
		cycles = 10_000
	}
	cfg := preloaded(t, zoo(t, "conformance.py"))
	cfg.Output = nil
	cfg.Note = func(text string) { t.Errorf("note: %s", text) }
	l := pyworker.New(cfg)
	w := worker(t, l) // lives throughout the test
	before := open(t)
	for i := range cycles {
		w, err := l.Launch(t.Context())
		if err != nil {
			t.Fatal(i, err)
		}
		if i%2 == 0 {
			_, _ = w.Call(t.Context(), hook.Call{Hook: "leave"})
		} else if err := syscall.Kill(w.Info().PID, syscall.SIGSEGV); err != nil {
			t.Fatal(i, err)
		}
		<-w.Done()
		if exit := w.Exit(); i%2 == 0 && exit.Code != 7 || i%2 == 1 && exit.Signal != "SIGSEGV" {
			t.Fatalf("%d: exit %+v", i, exit)
		}
		_ = w.Stop(context.Background())
	}
	var after, zombies []string
	if !runnertest.Soon(func() bool { // an exit may take a moment
		after, zombies = open(t), dead(t)
		return len(after) <= len(before) && len(zombies) == 0
	}) {
		t.Errorf("%d descriptors %q, %d before %q; zombies %q", len(after), after, len(before), before, zombies)
	}
	if got, err := w.Call(t.Context(), encode(t, "echo", []string{"x"})); err != nil {
		t.Errorf("the other worker: %s, %v", got.Value, err)
	}
}

// open lists the descriptors of this process and of the zygotes.
func open(t *testing.T) (all []string) {
	t.Helper()
	runtime.GC() // its finalizers close files that nothing else closed
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	pids := []int{os.Getpid()}
	for _, pid := range below(os.Getpid()) {
		// Skip the guard, in which the Go runtime may open descriptors at any time.
		if program, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid)); err == nil && program != self {
			pids = append(pids, pid)
		}
	}
	for _, pid := range pids {
		entries, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid)) // the pattern is valid
		for _, entry := range entries {
			if to, err := os.Readlink(entry); err == nil { // the descriptor of Glob itself is closed
				all = append(all, entry+" "+to)
			}
		}
	}
	return all
}

// dead lists the zombies among the children of this process and their children.
func dead(t *testing.T) (all []string) {
	t.Helper()
	for _, child := range below(os.Getpid()) {
		for _, pid := range append(below(child), child) {
			stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
			if strings.Contains(string(stat), ") Z ") {
				all = append(all, string(stat))
			}
		}
	}
	return all
}

// below lists the children of a process.
func below(pid int) (children []int) {
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid)) // the pattern is valid
	for _, file := range files {
		text, _ := os.ReadFile(file)
		for field := range strings.FieldsSeq(string(text)) {
			var child int
			if n, _ := fmt.Sscan(field, &child); n == 1 {
				children = append(children, child)
			}
		}
	}
	slices.Sort(children)
	return children
}

// TestPreloadDispensableThread checks that workers are forked if the only other thread belongs to a
// library that does not need it in a child.
func TestPreloadDispensableThread(t *testing.T) {
	runnertest.NothingLeft(t)
	l := preloading(t, plugin(t, `
import threading
thread = threading.Thread(target=threading.Event().wait, daemon=True)
thread.start()
with open("/proc/self/task/%d/comm" % thread.native_id, "w") as f:
    f.write("jemalloc_bg_thd")
def parent(): return os.getppid()
`))
	if one, two := worker(t, l), worker(t, l); parent(t, one) != parent(t, two) {
		t.Errorf("parents %d and %d", parent(t, one), parent(t, two))
	}
}

// TestPreloadCannotBegin checks that workers are started by exec if forked ones exit at once, and
// that the reason is reported once.
func TestPreloadCannotBegin(t *testing.T) {
	runnertest.NothingLeft(t)
	path := plugin(t, `
import sys
def separate(*_): raise OSError("spoiled")
if "_pyplug_zygote" in sys.modules:
    sys.modules["_pyplug_zygote"].separate = separate
def parent(): return os.getppid()
`)
	cfg := preloaded(t, path)
	var notes, printed []string
	cfg.Note = func(text string) { notes = append(notes, text) }
	cfg.Output = func(_, text string, _ int) { printed = append(printed, text) }
	l := pyworker.New(cfg)
	for range 2 {
		if pid := parent(t, worker(t, l)); pid != os.Getpid() {
			t.Errorf("parent %d", pid)
		}
	}
	if err := l.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if len(notes) != 1 || !strings.Contains(notes[0], "exit before they are ready") {
		t.Errorf("told %q", notes)
	}
	if len(printed) != 2 || imports(t, path) != 3 {
		t.Errorf("%d imports, printed %q", imports(t, path), printed)
	}
}
