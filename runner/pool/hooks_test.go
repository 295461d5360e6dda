package pool

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
)

func TestHooks(t *testing.T) {
	var version atomic.Int64
	bubble(t, Options{Policy: always, Version: func() int { return int(version.Load()) }}, nil, func(w *world) {
		hooks := func() string {
			s, err := w.Hooks(w.t.Context(), "")
			if err != nil {
				t.Fatal(err)
			}
			return s.Hooks[0].Name
		}
		if got := hooks(); got != "hook1" {
			t.Errorf("got %s", got)
		}
		w.fails("crash", hook.Crash, "")
		w.works()
		go func() { _ = w.call("sleep 1m") }()
		synctest.Wait()
		if d := took(func() { _ = hooks() }); d != 0 { // of the same files: a busy worker is not asked
			t.Errorf("took %v", d)
		}
		if _, err := w.Hooks(w.t.Context(), "nosuch"); hook.AsError(err).Reason != "no-hook" {
			t.Errorf("got %v", err)
		}
		if err := w.Restart(w.t.Context(), ""); err != nil {
			t.Error(err)
		}
		if got := hooks(); got != "hook3" {
			t.Errorf("got %s", got)
		}
	})
}

// TestDescribe: a description is awaited by calls, but is none itself.
func TestDescribe(t *testing.T) {
	half := func(f *fake) { f.describing = time.Second / 2 } // of all hooks, then of the one
	with := func(l *fakeLauncher) { l.kind = half }
	bubble(t, Options{Policy: always}, with, func(w *world) {
		w.Describe(w.t.Context())
		if st, err := w.Status(w.t.Context()); err != nil || st.Running != 0 {
			t.Errorf("got %d running, %v", st.Running, err)
		}
		if d := took(w.works); d != time.Second {
			t.Errorf("a call took %v", d)
		}
		w.launcher.last().describing = time.Hour
		if d := took(func() { _, _ = w.Hooks(w.t.Context(), "") }); d != 0 {
			t.Errorf("what is known took %v", d)
		}
		w.Describe(w.t.Context())
		if d := took(func() { _ = w.Close(w.t.Context()) }); d != 0 {
			t.Errorf("a stop took %v", d)
		}
	})
}
