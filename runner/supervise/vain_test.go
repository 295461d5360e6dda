package supervise

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
)

// TestVainStartIsToldAtOnce tells who waits what a start failed by, though it is
// tried again: who waited since before it, and who comes before the next one.
func TestVainStartIsToldAtOnce(t *testing.T) {
	cause := &hook.Error{Kind: hook.Start, Python: &hook.Raised{Type: "RuntimeError", Message: "no"}}
	s := play(part{dies: time.Minute, exit: hook.Exit{Code: 1}}, part{takes: time.Second, err: cause}, part{takes: time.Second})
	bubble(t, s, always, func(t *testing.T, v *Supervisor, r *record) {
		time.Sleep(time.Minute)
		r.want(t, append(started, "1 ready>backoff 1s")...)
		began := time.Now()
		if _, err := v.Acquire(t.Context()); err != error(cause) {
			t.Errorf("got %v, want the start's error itself", err)
		}
		if took := time.Since(began); took != 2*time.Second { // the delay and the start
			t.Errorf("it was told after %v, want 2s", took)
		}
		r.want(t, "2 backoff>starting", "2 starting>backoff 2s")
		for range 3 {
			began = time.Now()
			if _, err := v.Acquire(t.Context()); err != error(cause) || time.Since(began) != 0 {
				t.Errorf("got %v after %v, want the start's error at once", err, time.Since(began))
			}
		}
		time.Sleep(2 * time.Second)
		acquire(t, v).Release(nil) // waits for the start that is under way
		r.want(t, "3 backoff>starting", "3 starting>ready")
	})
}

// TestVainStartWaitsForTheFiles has a change of the plugin's files end the delay,
// for who wants the slot.
func TestVainStartWaitsForTheFiles(t *testing.T) {
	var changed atomic.Bool
	opts := Options{Rules: Rules{Policy: Always}, Changed: func() bool {
		time.Sleep(time.Millisecond)
		return changed.Swap(false)
	}}
	cause := startError("no room")
	bubble(t, play(part{err: cause}, part{}), opts, func(t *testing.T, v *Supervisor, r *record) {
		r.want(t, "1 >starting", "1 starting>backoff 1s")
		if _, err := v.Acquire(t.Context()); err != error(cause) {
			t.Errorf("got %v, want the start's error itself", err)
		}
		changed.Store(true)
		acquire(t, v).Release(nil)
		r.want(t, "2 backoff>starting", "2 starting>ready")
	})
}

// TestVainStartAsksInVain has the next start begin while somebody is told whether
// the files changed: that start answers.
func TestVainStartAsksInVain(t *testing.T) {
	opts := Options{Rules: Rules{Policy: Always}, Changed: func() bool {
		time.Sleep(5 * time.Second)
		return false
	}}
	bubble(t, play(part{err: startError("no room")}, part{takes: 10 * time.Second}), opts, func(t *testing.T, v *Supervisor, r *record) {
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		l, err := v.Acquire(ctx)
		if err != nil {
			t.Fatal(err)
		}
		l.Release(nil)
	})
}
