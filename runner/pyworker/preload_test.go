package pyworker_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/proc"
	"github.com/pyplug/pyplug/runner/pyworker"
	"github.com/pyplug/pyplug/runner/runnertest"
)

// preloading returns a launcher with preload. The test fails if workers cannot be forked.
func preloading(t testing.TB, plugin string) *pyworker.Launcher {
	t.Helper()
	cfg := preloaded(t, plugin)
	cfg.Note = func(text string) { t.Errorf("note: %s", text) }
	return pyworker.New(cfg)
}

// preloaded returns the configuration of a launcher with preload.
func preloaded(t testing.TB, plugin string) pyworker.Config {
	t.Helper()
	if !proc.CanFork() {
		t.Skip("workers are forked on Linux only")
	}
	cfg := config(t, plugin)
	cfg.Preload = "auto"
	cfg.Output = func(stream, text string, cut int) { t.Logf("%s: %.200s", stream, text) }
	return cfg
}

// counted is code that counts the imports of a plugin. plugin adds it.
const counted = `import os
with open(os.path.join(os.path.dirname(__file__), "imports"), "a") as _file:
    _file.write("x")
`

// plugin writes a plugin that counts its imports. The file is one hour old.
func plugin(t testing.TB, source string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "plug.py")
	edit(t, path, source, time.Now().Add(-time.Hour))
	return path
}

func edit(t testing.TB, path, source string, at time.Time) {
	t.Helper()
	if err := os.WriteFile(path, []byte(counted+source), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(path, at, at); err != nil {
		t.Fatal(err)
	}
}

// imports returns how often a plugin was imported.
func imports(t testing.TB, path string) int {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(filepath.Dir(path), "imports"))
	if err != nil {
		t.Fatal(err)
	}
	return len(text)
}

// worker launches a worker, and stops it at the end of the test.
func worker(t testing.TB, l *pyworker.Launcher) hook.Instance {
	t.Helper()
	w, err := l.Launch(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Stop(context.Background()); err != nil {
			t.Error(err)
		}
		if err := l.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return w
}

// value calls a hook without arguments, and returns its result.
func value(t testing.TB, w hook.Instance, name string) string {
	t.Helper()
	r, err := w.Call(t.Context(), hook.Call{Hook: name})
	if err != nil {
		t.Fatal(err)
	}
	return string(r.Value)
}

// parent returns the PID of a worker's parent process.
func parent(t testing.TB, w hook.Instance) int {
	t.Helper()
	pid, err := strconv.Atoi(value(t, w, "parent"))
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

func TestPreloadConformance(t *testing.T) { conformance(t, preloading) }

// TestPreloadWorkersDiffer checks that workers are copies of one import, and differ where they
// must, such as in random numbers.
func TestPreloadWorkersDiffer(t *testing.T) {
	runnertest.NothingLeft(t)
	path := plugin(t, `
import gc, random, sys, uuid
try:
    import numpy.random as other
except ImportError:
    import random as other

def chance(): return [random.random(), uuid.uuid4(), other.random(), os.urandom(4), os.getpid()]
def parent(): return os.getppid()
def same(): return [gc.isenabled(), gc.get_threshold(), gc.get_freeze_count() > 1000, sys.argv, __name__, os.getcwd()]
def group(): return [os.getpgid(0) == os.getpid(), sorted(map(int, os.listdir("/proc/self/fd")))]
`)
	l := preloading(t, path)
	one, two := worker(t, l), worker(t, l)
	if n := imports(t, path); n != 1 {
		t.Errorf("imported %d times", n)
	}
	if parent(t, one) != parent(t, two) || parent(t, one) == os.Getpid() {
		t.Errorf("parents %d and %d", parent(t, one), parent(t, two))
	}
	a, b := strings.Split(value(t, one, "chance"), ","), strings.Split(value(t, two, "chance"), ",")
	for i := range a {
		if a[i] == b[i] {
			t.Errorf("both have %s", a[i])
		}
	}
	execd := worker(t, pyworker.New(config(t, path)))
	if got, want := value(t, one, "same"), strings.Replace(value(t, execd, "same"), "false", "true", 1); got != want {
		t.Errorf("got %s, by exec %s", got, want)
	}
	if got, want := value(t, two, "group"), value(t, execd, "group"); got != want || !strings.HasPrefix(got, "[true") {
		t.Errorf("its own group and descriptors are %s, by exec %s", got, want)
	}
	if !strings.HasSuffix(a[4], strconv.Itoa(one.Info().PID)+"]") {
		t.Errorf("pid %d, and the worker says %s", one.Info().PID, a[4])
	}
}

// TestPreloadUnsafe checks that the reason is reported once if it is not safe to fork after an
// import, and that the process that imported the plugin becomes the first worker.
func TestPreloadUnsafe(t *testing.T) {
	for name, test := range map[string]struct{ source, why string }{
		"thread": {"import threading\ndef wait(): threading.Event().wait()\nthreading.Thread(target=wait, daemon=True).start()", "2 threads after the import (Thread-1"},
		"socket": {"import socket\ns = socket.socket()", "a socket (fd "},
		"pipe":   {"p = os.pipe()", "a pipe (fd "},
		"loop":   {"import select\np = select.epoll()", "eventpoll (fd "},
		"child":  {"import subprocess\nc = subprocess.Popen(['sleep', '1000'])", "a child process"},
		"base":   {"import sqlite3\nc = sqlite3.connect(os.path.dirname(__file__) + '/x.db')", "x.db, open for reading and writing (fd "},
		"timer":  {"import signal\nsignal.signal(signal.SIGALRM, print)\nsignal.alarm(1000)", "a timer runs"},
		"shared": {"import mmap\nm = mmap.mmap(-1, 4096)", "shared memory ("},
		"lock":   {"import multiprocessing\nl = multiprocessing.Lock()", "shared memory (/dev/shm/"},
		"signal": {"import signal\nsignal.signal(signal.SIGCHLD, signal.SIG_IGN)", "SIGCHLD is handled"},
		"final":  {"import tempfile\nd = tempfile.TemporaryDirectory()", "a finalizer (TemporaryDirectory._cleanup)"},
		"lockf":  {"import fcntl\nf = open(__file__ + '.lock', 'w')\nfcntl.lockf(f, fcntl.LOCK_EX)", "plug.py.lock, locked (fd "},
		"flock":  {"import fcntl\nf = open(__file__ + '.lock', 'a')\nfcntl.flock(f, fcntl.LOCK_EX)", "plug.py.lock, locked (fd "},
		"read":   {"f = open(__file__, 'rb')", "plug.py, open for reading (fd "},
		"gzip":   {"import gzip\nf = gzip.open(__file__ + '.gz', 'wt')", "a GzipFile, open for writing,"},
		"closed": {"os.closerange(204, 205)", "cannot be accessed"},
	} {
		t.Run(name, func(t *testing.T) {
			runnertest.NothingLeft(t)
			path := plugin(t, test.source+"\ndef parent(): return os.getppid()\n")
			cfg := preloaded(t, path)
			var notes []string
			cfg.Note = func(text string) { notes = append(notes, text) }
			l := pyworker.New(cfg)
			if pid := parent(t, worker(t, l)); pid != os.Getpid() || imports(t, path) != 1 {
				t.Errorf("the first worker's parent is %d, after %d imports", pid, imports(t, path))
			}
			if name == "thread" {
				if pid := parent(t, worker(t, l)); pid != os.Getpid() || imports(t, path) != 2 {
					t.Errorf("the second worker's parent is %d, after %d imports", pid, imports(t, path))
				}
			}
			if len(notes) != 1 || !strings.Contains(notes[0], test.why) {
				t.Errorf("told %q, want %q once", notes, test.why)
			}
		})
	}
}

func TestPreloadForced(t *testing.T) {
	runnertest.NothingLeft(t)
	path := plugin(t, "import socket\ns = socket.socket()\ndef parent(): return os.getppid()\n")
	cfg := preloaded(t, path)
	cfg.Preload = "force"
	cfg.Note = func(text string) { t.Errorf("note: %s", text) }
	l := pyworker.New(cfg)
	if one, two := worker(t, l), worker(t, l); parent(t, one) != parent(t, two) || imports(t, path) != 1 {
		t.Errorf("parents %d and %d, %d imports", parent(t, one), parent(t, two), imports(t, path))
	}
}

// TestPreloadZygoteDies checks that workers outlive the zygote, that their exits are still
// reported, and that the next worker has a new zygote.
func TestPreloadZygoteDies(t *testing.T) {
	runnertest.NothingLeft(t)
	path := plugin(t, "def parent(): return os.getppid()\ndef leave(): os._exit(7)\n")
	l := preloading(t, path)
	one, two := worker(t, l), worker(t, l)
	zygote := parent(t, one)
	kill(t, zygote)
	runnertest.Until(t, "the workers are ours", func() bool { return parent(t, one) == os.Getpid() })
	three := worker(t, l)
	if parent(t, two) != os.Getpid() || parent(t, three) == zygote || imports(t, path) != 2 {
		t.Errorf("parents %d and %d, %d imports", parent(t, two), parent(t, three), imports(t, path))
	}
	_, err := two.Call(t.Context(), hook.Call{Hook: "leave"})
	var e *hook.Error
	if !errors.As(err, &e) || e.Kind != hook.Crash || e.Exit.Code != 7 {
		t.Errorf("the orphan's end: %v", err)
	}
	if value(t, one, "parent") == "" {
		t.Error("the other orphan does not answer")
	}
}

func kill(t testing.TB, pid int) {
	t.Helper()
	p, err := os.FindProcess(pid)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Kill(); err != nil {
		t.Fatal(err)
	}
}

// TestPreloadEdited checks that Renew makes the next launch import new code, that broken code fails
// as by exec, and that running workers continue.
func TestPreloadEdited(t *testing.T) {
	runnertest.NothingLeft(t)
	path := plugin(t, "import helper\ndef text(): return helper.TEXT\n")
	helper := filepath.Join(filepath.Dir(path), "helper.py")
	edit(t, helper, "TEXT = 'old'\n", time.Now().Add(-time.Hour))
	l := preloading(t, path)
	old := worker(t, l)
	edit(t, helper, "TEXT = 'new'\n", time.Now().Add(-time.Minute))
	l.Renew()
	if got := value(t, worker(t, l), "text"); got != `"new"` {
		t.Errorf("after the edit: %s", got)
	}
	before := imports(t, path)
	worker(t, l)
	l.Renew()
	if worker(t, l); imports(t, path) != before+2 { // one of the plugin and one of its helper
		t.Errorf("%d imports, %d before it was to be renewed", imports(t, path), before)
	}
	edit(t, helper, "TEXT = \n", time.Now().Add(-time.Second))
	l.Renew()
	for range 2 {
		var e *hook.Error
		if _, err := l.Launch(t.Context()); !errors.As(err, &e) || e.Kind != hook.Start || e.Python == nil || e.Python.Type != "SyntaxError" {
			t.Errorf("after a broken edit: %v", err)
		}
	}
	if got := value(t, old, "text"); got != `"old"` {
		t.Errorf("the worker that runs: %s", got)
	}
	edit(t, helper, "TEXT = 'mended'\n", time.Now())
	l.Renew()
	if got := value(t, worker(t, l), "text"); got != `"mended"` {
		t.Errorf("after the cure: %s", got)
	}
}

// TestPreloadStartErrors checks that a failed start has the same error by exec and by preload.
func TestPreloadStartErrors(t *testing.T) {
	runnertest.NothingLeft(t)
	for _, name := range []string{
		"import_error.py", "syntax_error.py", "import_raises.py", "import_sys_exit.py", "import_exit.py",
		"import_segfault.py", "python2.py", "hang_import.py",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got [2]*hook.Error
			for i, preload := range []string{"off", "auto"} {
				cfg := preloaded(t, zoo(t, name))
				cfg.Preload, cfg.StartTimeout = preload, 20*time.Second
				marker := filepath.Join(t.TempDir(), "marker")
				if name == "hang_import.py" {
					cfg.StartTimeout = time.Second
					cfg.Env = append(cfg.Env, "HANG_IMPORT_MARKER="+marker)
				}
				runnertest.Retry(t, func() error {
					l := pyworker.New(cfg)
					if _, err := l.Launch(t.Context()); !errors.As(err, &got[i]) {
						t.Fatalf("got %v", err)
					}
					if err := l.Close(t.Context()); err != nil {
						t.Error(err)
					}
					if name == "hang_import.py" && !runnertest.Exists(marker)() {
						return got[i] // Python itself was too slow
					}
					return nil
				})
			}
			a, b := got[0], got[1]
			if a.Error() != b.Error() || a.Kind != b.Kind || (a.Python == nil) != (b.Python == nil) || (a.Exit == nil) != (b.Exit == nil) {
				t.Fatalf("by exec %#v, by preload %#v", a, b)
			}
			if a.Exit != nil && (a.Exit.Code != b.Exit.Code || a.Exit.Signal != b.Exit.Signal) {
				t.Errorf("by exec %+v, by preload %+v", a.Exit, b.Exit)
			}
		})
	}
}

// TestPreloadCanceled checks that a launch that waits for the import of another launch can be
// canceled.
func TestPreloadCanceled(t *testing.T) {
	runnertest.NothingLeft(t)
	marker := filepath.Join(t.TempDir(), "marker")
	cfg := preloaded(t, zoo(t, "hang_import.py"))
	cfg.Env = append(cfg.Env, "HANG_IMPORT_MARKER="+marker)
	l := pyworker.New(cfg)
	first, cancelFirst := context.WithCancel(t.Context())
	failed := make(chan error)
	go func() {
		_, err := l.Launch(first)
		failed <- err
	}()
	runnertest.Until(t, "the import runs", runnertest.Exists(marker))
	for _, cancel := range []context.CancelFunc{nil, cancelFirst} {
		var err error
		if cancel == nil {
			second, end := context.WithCancel(t.Context())
			end()
			_, err = l.Launch(second)
		} else {
			cancel()
			err = <-failed
		}
		var e *hook.Error
		if !errors.As(err, &e) || e.Kind != hook.Canceled {
			t.Errorf("got %v", err)
		}
	}
}
