package runner_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/runnertest"
)

// raising is a functions file whose import counts itself, and raises what may be
// different the next time.
const raising = "open('starts', 'a').write('x')\nraise RuntimeError('no room')\n"

// TestKeepFailedStart fails calls at once with the error of the last start, and makes
// them once the file is fixed, without waiting for the delay.
func TestKeepFailedStart(t *testing.T) {
	runnertest.NothingLeft(t)
	cfg := file(t, busybody)
	cfg.Keep.Backoff, cfg.Keep.BackoffMax = time.Hour, time.Hour
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
		if e.Python == nil || len(e.Python.Frames) == 0 || len(e.Hints) != 1 || !strings.HasPrefix(e.Hints[0], "the plugin restarts in ") {
			t.Errorf("got %+v want the traceback, and when it is retried", e)
		}
	}
	if starts := read(t, filepath.Join(cfg.Cwd, "starts")); starts != "xx" { // to replace the worker, and after it
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

// TestKeepFailedBootstrap names the call after the start that failed, which is not the
// hook that was called.
func TestKeepFailedBootstrap(t *testing.T) {
	runnertest.NothingLeft(t)
	const once = "def once():\n    if os.path.exists('made'): raise ValueError('made already')\n    open('made', 'w').close()\n"
	cfg := file(t, busybody+once)
	cfg.Keep.Backoff, cfg.Keep.BackoffMax = time.Hour, time.Hour
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
