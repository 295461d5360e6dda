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

// TestBusyIsNotDead holds that missed probes do not stop an instance that runs a call.
func TestBusyIsNotDead(t *testing.T) {
	bubble(t, Options{Policy: always}, nil, func(w *world) {
		w.launcher.last().probes(hang)
		if err := w.call("sleep 50m"); err != nil {
			t.Error(err)
		}
		w.states("1:starting 1:ready")
	})
}

// TestBusyIsProbed holds that a probe can find a call without end: the instance is replaced.
func TestBusyIsProbed(t *testing.T) {
	bubble(t, Options{Policy: always}, nil, func(w *world) {
		f := w.launcher.last()
		f.probes(func(context.Context) error {
			return errors.Join(f.Crash(), &hook.Error{Kind: hook.Crash, Err: errors.New("its main thread has ended")})
		})
		if e := w.call("sleep 50m"); e == nil || e.Kind != hook.Crash {
			t.Errorf("got %v, want a crash", e)
		}
		w.works()
		w.states("1:starting 1:ready 2:starting 2:ready")
	})
}
