package pool

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
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
		w.works() // waits for the end of the back-off
		w.states("1:starting 1:ready 1:degraded 1:ready 1:stopping 1:backoff 2:starting 2:ready")
	})
}

// TestBusyIsNotDead checks that missed probes do not stop an instance that runs a call.
func TestBusyIsNotDead(t *testing.T) {
	for _, places := range []int{1, 4} {
		bubble(t, Options{Policy: always, Concurrency: places}, nil, func(w *world) {
			w.launcher.last().probes(hang)
			if err := w.call("sleep 50m"); err != nil {
				t.Error(err)
			}
			w.states("1:starting 1:ready")
		})
	}
}

// load keeps a number of calls of a hook running for the duration d. Each times out after 3 s. If
// between is positive, load also makes a call that succeeds after each pause of that length.
func (w *world) load(hook string, calls int, d, between time.Duration) {
	ctx, cancel := context.WithTimeout(w.t.Context(), d)
	defer cancel()
	var all sync.WaitGroup
	for range calls {
		all.Go(func() {
			for ctx.Err() == nil {
				_ = w.callWithin(3*time.Second, hook)
			}
		})
	}
	for between > 0 && ctx.Err() == nil {
		sleep(between)
		w.works()
	}
	all.Wait()
}

// TestUnresponsiveUnderLoad checks that an instance in which a call always runs is replaced within
// four probe periods once its calls end unanswered. Any answer in between keeps the instance.
func TestUnresponsiveUnderLoad(t *testing.T) {
	for name, c := range map[string]struct {
		hook     string
		calls    int // the number of concurrent calls, for four places
		between  time.Duration
		replaced bool
	}{
		"one":                 {"mute 1h", 1, 0, true},
		"all places":          {"mute 1h", 4, 0, true},
		"calls wait":          {"mute 1h", 9, 0, true},
		"one is answered":     {"mute 1h", 3, 20 * time.Second, false},
		"interrupts answered": {"sleep 1h", 4, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, Options{Policy: always, Concurrency: 4}, nil, func(w *world) {
				f := w.launcher.last()
				f.probes(hang)
				w.load(c.hook, c.calls, 40*time.Second, c.between)
				if hook.IsClosed(f.done) != c.replaced {
					t.Errorf("replaced %v, want %v", !c.replaced, c.replaced)
				}
				w.load(c.hook, c.calls, 10*time.Minute, c.between) // a new instance answers its probes
				want := "1:starting 1:ready"
				if c.replaced {
					want += " 1:stopping 1:backoff 2:starting 2:ready"
				}
				w.states(want)
			})
		})
	}
}

// TestUnresponsiveBusy checks that a call that runs after an unanswered one fails with the
// instance, unless the instance has answered a probe in between.
func TestUnresponsiveBusy(t *testing.T) {
	for _, answered := range []bool{false, true} {
		bubble(t, Options{Policy: always}, nil, func(w *world) {
			f := w.launcher.last()
			_ = w.callWithin(3*time.Second, "mute 1h")
			if !answered {
				f.probes(hang)
			}
			sleep(10 * time.Second)
			f.probes(hang)
			if e := w.call("sleep 10m"); (e == nil) != answered {
				t.Errorf("got %v, a probe was answered: %v", e, answered)
			}
		})
	}
}

// TestHealthOfBusy checks that a busy instance that does not answer is healthy until one of its
// calls ends unanswered.
func TestHealthOfBusy(t *testing.T) {
	bubble(t, Options{Policy: always, Concurrency: 4}, nil, func(w *world) {
		w.launcher.last().probes(func(ctx context.Context) error {
			e := hook.AsError(hang(ctx))
			e.Unanswered = true
			return e
		})
		health := func(want hook.Kind) {
			t.Helper()
			ctx, cancel := hook.WithLimit(w.t.Context(), time.Second)
			defer cancel()
			var got hook.Kind
			if e := hook.AsError(w.Health(ctx)); e != nil {
				got = e.Kind
			}
			if got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		}
		health(hook.Timeout)
		var calls sync.WaitGroup
		calls.Go(func() { _ = w.callWithin(time.Minute, "mute 1h") })
		synctest.Wait()
		health("")
		_ = w.callWithin(time.Second, "mute 1h")
		health(hook.Timeout)
		calls.Wait()
	})
}

// TestBusyIsProbed checks that an instance without free places is probed, and replaced if the probe
// finds that it has crashed.
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
