package pool

import (
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

func TestHooks(t *testing.T) {
	var version atomic.Int64
	bubble(t, Options{Policy: always, Version: func() int { return int(version.Load()) }}, nil, func(w *world) {
		hooks := func() string {
			s, err := w.Hooks(w.t.Context(), schema.Query{})
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
		if d := took(func() { _ = hooks() }); d != 0 { // the description is cached, so a busy worker is not asked
			t.Errorf("took %v", d)
		}
		if _, err := w.Hooks(w.t.Context(), schema.Query{Hook: "nosuch"}); hook.AsError(err).Reason != "no-hook" {
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
