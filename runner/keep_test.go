package runner_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/pyplug/pyplug/runner"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/plan"
	"github.com/pyplug/pyplug/runner/proc"
	"github.com/pyplug/pyplug/runner/runnertest"
	"github.com/pyplug/pyplug/runner/settings"
)

// file returns the configuration of a functions file with this text.
func file(t *testing.T, text string) plan.Config {
	t.Helper()
	python := runnertest.Python(t)
	dir := t.TempDir()
	put(t, dir, "plug.py", text)
	return plan.Config{Plugin: filepath.Join(dir, "plug.py"), Settings: settings.Settings{Python: python}, Environ: os.Environ(), Cwd: dir}
}

// put writes a file.
func put(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// keeping starts a plugin. The caller closes it.
func keeping(t *testing.T, ctx context.Context, cfg plan.Config) (*kept, error) {
	t.Helper()
	o, err := runner.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	p := o
	err = o.Start(ctx)
	return &kept{p.Pool}, err
}

// kept is a running plugin with short methods for tests.
type kept struct{ *runner.Pool }

func (k *kept) status() hook.Status {
	st, _ := k.Status(context.Background()) // Status never fails
	return st
}

func (k *kept) replay(ctx context.Context, c hook.Call) (hook.Result, error) {
	c.Replay = true
	return k.Call(ctx, c)
}

// keep starts a plugin and closes it at the end of the test.
func keep(t *testing.T, cfg plan.Config) *kept {
	t.Helper()
	k, err := keeping(t, t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := k.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return k
}

func call(name, args string) hook.Call {
	return hook.Call{Hook: name, Args: hook.Args{JSON: []byte(args)}}
}

// answers makes a call and checks the result.
func answers(t *testing.T, k hook.Caller, c hook.Call, want string) {
	t.Helper()
	if r, err := k.Call(t.Context(), c); err != nil || string(r.Value) != want {
		t.Fatalf("%s%s: got %s, %v; want %s", c.Hook, c.Args.JSON, r.Value, err, want)
	}
}

// kindOf returns an error's kind, or "" if it has none.
func kindOf(err error) hook.Kind {
	e := (*hook.Error)(nil)
	if !errors.As(err, &e) {
		return ""
	}
	return e.Kind
}

// busybody is a functions file with hooks that misbehave.
const busybody = `
import os, time
def ok(n): return n
def pid(): return os.getpid()
def die(): os._exit(3)
def nap(seconds): time.sleep(seconds)
def wait(path):
    open(path + ".began", "w").close()
    while not os.path.exists(path): time.sleep(0.001)
    return path
`

// TestKeepCarriedErrors checks that a call fails if its result contains an error, as with the
// plugin.json of Mattermost.
func TestKeepCarriedErrors(t *testing.T) {
	runnertest.NothingLeft(t)
	cfg := file(t, "def f(error): return {'error': error}\ndef g():\n    yield {'error': ''}\n    yield {'error': 'no'}\n    yield {}\n")
	put(t, cfg.Cwd, "plugin.json", `{"id":"carries","server":{"executable":"plug.py"}}`)
	cfg.Transport = "pipe"
	k := keep(t, cfg)
	answers(t, k, call("f", `[""]`), `{"error":""}`)
	if _, err := k.Call(t.Context(), call("f", `["broken"]`)); kindOf(err) != hook.Failed || err.Error() != "broken" {
		t.Errorf("got %v", err)
	}
	var items bytes.Buffer
	streamed := call("g", "")
	streamed.Emit = func(i hook.Item) error { items.Write(i.Value); return nil }
	if _, err := k.Call(t.Context(), streamed); kindOf(err) != hook.Failed || items.String() != `{"error":""}` {
		t.Errorf("got %v after %s", err, items.String())
	}
	if st := k.status(); st.Failed != 2 {
		t.Errorf("%d calls failed, want 2", st.Failed)
	}
}

// read returns the words of a file on one line, or "" if the file does not exist.
func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return strings.Join(strings.Fields(string(text)), " ")
}

// raising is a functions file that counts its imports, and raises an exception that the next import
// might not raise, so that pyplug tries again.
const raising = "open('starts', 'a').write('x')\nraise RuntimeError('no room')\n"

// TestKeepFailedStart checks that calls fail at once with the error of the last start, and succeed
// after the file is fixed, without waiting for the delay.
func TestKeepFailedStart(t *testing.T) {
	runnertest.NothingLeft(t)
	cfg := file(t, busybody)
	cfg.Restart.Backoff, cfg.Restart.BackoffMax = time.Hour, time.Hour
	k := keep(t, cfg)
	put(t, cfg.Cwd, "plug.py", raising)
	if err := k.Restart(t.Context(), "a test"); kindOf(err) != hook.Start {
		t.Fatalf("got %v, want the import's error", err)
	}
	if note := k.status().Note; note != "a new worker does not start, so the old one stays: RuntimeError: no room" {
		t.Errorf("got the note %q", note)
	}
	if _, err := k.Call(t.Context(), call("die", "")); kindOf(err) != hook.Crash {
		t.Fatalf("got %v, want a crash", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), runnertest.WaitTimeout)
	defer cancel()
	for range 3 {
		_, err := k.Call(ctx, call("ok", "[1]"))
		e := (*hook.Error)(nil)
		if !errors.As(err, &e) || e.Kind != hook.Start || e.Hook != "ok" || e.Begun || e.Error() != "RuntimeError: no room" {
			t.Fatalf("got %#v, want the import's error", err)
		}
		if e.Python == nil || len(e.Python.Frames) == 0 || len(e.Hints) != 1 || !strings.HasPrefix(hook.Word(e.Hints[0]), "change its files and call it to restart it at once; otherwise the plugin restarts in ") {
			t.Errorf("got %+v want the traceback, and when it is retried", e)
		}
	}
	if starts := read(t, filepath.Join(cfg.Cwd, "starts")); starts != "xx" { // one start for Restart, and one after the crash
		t.Errorf("started %d times, want twice", len(starts))
	}
	if st := k.status(); st.State != hook.StateBackoff || st.Ready != 0 || st.Note != "it does not start: RuntimeError: no room" {
		t.Errorf("got %+v", st)
	}
	err := k.Health(ctx)
	const want = "the plugin is restarting, in back-off: RuntimeError: no room; the plugin restarts in "
	if e := (*hook.Error)(nil); !errors.As(err, &e) || e.Kind != hook.Unavailable || e.Python == nil || !strings.HasPrefix(e.Error(), want) {
		t.Errorf("got %v, want %s…", err, want)
	}
	put(t, cfg.Cwd, "plug.py", busybody+"# mended\n")
	if r, err := k.Call(ctx, call("ok", "[1]")); err != nil || string(r.Value) != "1" {
		t.Errorf("after it was mended: got %s, %v", r.Value, err)
	}
	if note := k.status().Note; note != "" {
		t.Errorf("got the note %q", note)
	}
}

// TestKeepFailedBootstrap checks that the error names the failed bootstrap call, not the hook that
// was called.
func TestKeepFailedBootstrap(t *testing.T) {
	runnertest.NothingLeft(t)
	const once = "def once():\n    if os.path.exists('made'): raise ValueError('made already')\n    open('made', 'w').close()\n"
	cfg := file(t, busybody+once)
	cfg.Restart.Backoff, cfg.Restart.BackoffMax = time.Hour, time.Hour
	k := keep(t, cfg)
	if _, err := k.replay(t.Context(), call("once", "")); err != nil {
		t.Fatal(err)
	}
	if _, err := k.Call(t.Context(), call("die", "")); kindOf(err) != hook.Crash {
		t.Fatalf("got %v, want a crash", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), runnertest.WaitTimeout)
	defer cancel()
	_, err := k.Call(ctx, call("ok", "[1]"))
	const want = "once, called after each start: ValueError: made already"
	if e := (*hook.Error)(nil); !errors.As(err, &e) || e.Kind != hook.Start || e.Hook != "ok" || e.Error() != want || e.Python == nil {
		t.Errorf("got %#v, want %s", err, want)
	}
}

// TestKeepMemory has a worker exceed its memory limit. During a call this ends the worker. If it
// holds the memory between calls, it is replaced.
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
	cfg.Limits.Memory = 200 << 20
	k := keep(t, cfg)
	_, err := k.Call(t.Context(), call("hog", ""))
	if e := (*hook.Error)(nil); !errors.As(err, &e) || e.Kind != hook.Crash || e.Exit == nil || !strings.Contains(e.Exit.Limit, "200 MB") {
		t.Fatalf("got %#v, want a crash by the limit", err)
	}
	answers(t, k, call("hold", "[0]"), "null")
	before := k.status()
	if _, err := k.Call(t.Context(), call("hold", "[175]")); err != nil { // four fifths of the limit are 160
		t.Fatal(err)
	}
	now := k.status()
	if used := proc.Memory(now.PID); used < 175<<20 && now.Generation == before.Generation {
		t.Errorf("it takes %d bytes", used)
	}
	runnertest.Until(t, "another worker", func() bool { return k.status().Generation > before.Generation })
	if _, err := k.Call(t.Context(), call("pid", "")); err != nil {
		t.Error(err)
	}
	runnertest.Until(t, "less memory", func() bool {
		used := proc.Memory(k.status().PID)
		return used > 0 && used < 100<<20
	})
}
