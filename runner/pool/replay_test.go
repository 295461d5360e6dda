package pool

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
)

// TestReplays checks that every worker makes the bootstrap call first, then the replayed calls in
// order, then the shutdown call, also after a restart.
func TestReplays(t *testing.T) {
	making := func(name string) func(context.Context, hook.Instance) error {
		return func(ctx context.Context, inst hook.Instance) error {
			_, err := inst.Call(ctx, hook.Call{Hook: name})
			return err
		}
	}
	opt := Options{Workers: 2, Policy: always, Bootstrap: making("boot"), Shutdown: making("bye")}
	bubble(t, opt, nil, func(w *world) {
		synctest.Wait()
		for _, name := range []string{"one", "two"} {
			if _, err := w.Call(w.t.Context(), hook.Call{Hook: name, Replay: true}); err != nil {
				t.Error(err)
			}
		}
		if _, err := w.Call(w.t.Context(), hook.Call{Hook: "fail", Replay: true}); hook.AsError(err).Kind != hook.Failed {
			t.Errorf("got %v", err)
		}
		stream := hook.Call{Hook: "ok", Replay: true, Input: func(func(json.RawMessage, error) bool) {}}
		if _, err := w.Call(w.t.Context(), stream); hook.AsError(err).Kind != hook.Request {
			t.Errorf("got %v", err)
		}
		if err := w.Restart(w.t.Context(), ""); err != nil {
			t.Error(err)
		}
		if err := w.Close(w.t.Context()); err != nil {
			t.Error(err)
		}
		for pid, made := range w.launcher.made {
			if made = strings.Replace(made, " fail", "", 1); made != "boot one two bye" {
				t.Errorf("instance %d made %q", pid, made)
			}
		}
	})
}

// TestBootstrapAlone checks that a pool with bootstrap calls, but without shutdown calls, makes no
// call when it stops.
func TestBootstrapAlone(t *testing.T) {
	opt := Options{Policy: always, Bootstrap: func(ctx context.Context, inst hook.Instance) error {
		_, err := inst.Call(ctx, hook.Call{Hook: "boot"})
		return err
	}}
	bubble(t, opt, nil, func(w *world) {
		if err := w.Close(w.t.Context()); err != nil {
			t.Error(err)
		}
		if made := w.launcher.made[1]; made != "boot" {
			t.Errorf("the instance made %q", made)
		}
	})
}

// TestReplayDuringStart checks that a start makes each replay that was added during the start once.
func TestReplayDuringStart(t *testing.T) {
	bubble(t, Options{Policy: always}, nil, func(w *world) {
		w.launcher.set(func() { w.launcher.start = time.Second })
		go func() { _ = w.Restart(w.t.Context(), "a test") }()
		synctest.Wait()
		if _, err := w.Call(w.t.Context(), hook.Call{Hook: "one", Replay: true}); err != nil {
			t.Error(err)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		w.works()
		if made := w.launcher.made[2]; made != "one ok" {
			t.Errorf("the new instance made %q", made)
		}
		w.states("1:starting 1:ready 2:starting 2:ready 1:stopping 1:stopped")
	})
}

// TestReplayWaits checks that a replayed call that waits for another one ends with its context.
func TestReplayWaits(t *testing.T) {
	bubble(t, Options{Policy: always}, nil, func(w *world) {
		var work sync.WaitGroup
		defer work.Wait()
		work.Go(func() {
			if _, err := w.Call(w.t.Context(), hook.Call{Hook: "sleep 1m", Replay: true}); err != nil {
				t.Error(err)
			}
		})
		synctest.Wait()
		ctx, cancel := context.WithTimeout(w.t.Context(), time.Second)
		defer cancel()
		waited := took(func() {
			if _, err := w.Call(ctx, hook.Call{Hook: "one", Replay: true}); hook.AsError(err).Kind != hook.Timeout || hook.AsError(err).Begun {
				t.Errorf("got %v", err)
			}
		})
		if waited != time.Second {
			t.Errorf("it took %v", waited)
		}
	})
}
