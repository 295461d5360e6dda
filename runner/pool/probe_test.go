package pool

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
)

func TestProbes(t *testing.T) {
	bubble(t, Options{Policy: always}, nil, func(w *world) {
		f := w.launcher.last()
		f.probes(func(context.Context) error {
			return &hook.Error{Kind: hook.Unhealthy, Err: errors.New("queue is full")}
		})
		sleep(11 * time.Second)
		if st := w.status(); st.State != hook.StateDegraded || st.Reason != "queue is full" {
			t.Errorf("got %+v", st)
		}
		w.works()
		f.probes(nil)
		sleep(10 * time.Second)
		if st := w.status(); st.State != hook.StateReady || st.Reason != "" {
			t.Errorf("got %+v", st)
		}
		f.probes(hang)
		sleep(34 * time.Second) // two misses
		if hook.IsClosed(f.done) {
			t.Error("stopped too early")
		}
		sleep(4 * time.Second)
		w.works() // after the back-off
		w.states("1:starting 1:ready 1:degraded 1:ready 1:stopping 1:backoff 2:starting 2:ready")
	})
}

// TestBusyIsNotDead does not probe an instance that works on a call.
func TestBusyIsNotDead(t *testing.T) {
	bubble(t, Options{Policy: always}, nil, func(w *world) {
		w.launcher.last().probes(hang)
		if err := w.call("sleep 50m"); err != nil {
			t.Error(err)
		}
		w.states("1:starting 1:ready")
	})
}
