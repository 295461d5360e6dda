package pool

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
)

// lease takes one.
func lease(t *testing.T, p *Pool) *Lease {
	t.Helper()
	l, err := p.Lease(t.Context())
	if err != nil {
		t.Fatalf("a lease: %v", err)
	}
	return l
}

// TestLease keeps one place, makes one call at a time, and gives it back.
func TestLease(t *testing.T) {
	bubble(t, 1, Options{}, nil, func(t *testing.T, p *Pool, slots []*fakeSlot) {
		l := lease(t, p)
		for range 3 {
			good(t, l)
		}
		if l.Instance().Info().PID != 1 {
			t.Errorf("leased %+v", l.Instance().Info())
		}
		began := time.Now()
		var wg sync.WaitGroup
		for range 2 { // the fake minds two at once
			wg.Go(func() { _ = call(t, l, t.Context(), "second", "1") })
		}
		wg.Wait()
		if took := time.Since(began); took != 2*time.Second {
			t.Errorf("two calls of a second took %v", took)
		}
		wg.Go(func() { good(t, p) })
		synctest.Wait()
		if st := p.Stats(); st.Queued != 1 || st.Running != 1 || st.Calls != 5 {
			t.Errorf("others: %+v, want one to wait", st)
		}
		l.Close()
		l.Close()
		wg.Wait()
		want(t, call(t, l, t.Context(), "echo", "1"), hook.Unavailable)
	})
}

// TestLeaseWaits bounds the wait for the turn.
func TestLeaseWaits(t *testing.T) {
	bubble(t, 1, Options{}, nil, func(t *testing.T, p *Pool, _ []*fakeSlot) {
		l := lease(t, p)
		var wg sync.WaitGroup
		wg.Go(func() { _ = call(t, l, t.Context(), "second", "1") })
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		want(t, call(t, l, ctx, "echo", "1"), hook.Timeout)
		var waiting error
		wg.Go(func() { waiting = call(t, l, t.Context(), "echo", "1") })
		synctest.Wait()
		l.Close() // while one runs, which ends, and one waits, which does not begin
		synctest.Wait()
		want(t, waiting, hook.Unavailable)
		if st := p.Stats(); st.Running != 1 {
			t.Errorf("got %+v, want the place kept by the call that runs", st)
		}
		wg.Wait()
		good(t, p)
	})
}

// TestLeaseLost never moves a lease, and fills its slot at once.
func TestLeaseLost(t *testing.T) {
	bubble(t, 1, Options{}, nil, func(t *testing.T, p *Pool, slots []*fakeSlot) {
		l := lease(t, p)
		want(t, call(t, l, t.Context(), "crash", "1"), hook.Crash)
		if e := want(t, call(t, l, t.Context(), "echo", "1"), hook.Unavailable); e.Begun {
			t.Errorf("got %+v", e)
		}
		good(t, p)
		l.Close()

		l = lease(t, p)
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		want(t, call(t, l, ctx, "deaf", "1"), hook.Timeout)
		good(t, p) // its instance was killed for that: it keeps no place
		l.Close()

		l = lease(t, p)
		slots[0].current().end() // between two calls
		want(t, call(t, l, t.Context(), "echo", "1"), hook.Unavailable)
		l.Close()
		good(t, p)
	})
}

// TestLeaseDrain waits for leases, which can be used until they are closed.
func TestLeaseDrain(t *testing.T) {
	bubble(t, 1, Options{}, nil, func(t *testing.T, p *Pool, _ []*fakeSlot) {
		l := lease(t, p)
		var drained time.Time
		var wg sync.WaitGroup
		wg.Go(func() {
			if err := p.Drain(t.Context()); err != nil {
				t.Errorf("draining: %v", err)
			}
			drained = time.Now()
		})
		time.Sleep(time.Minute)
		good(t, l)
		l.Close()
		closed := time.Now()
		wg.Wait()
		if !drained.Equal(closed) {
			t.Errorf("drained %v after the lease was closed", drained.Sub(closed))
		}
	})
}

// TestLeaseProbe asks an instance in doubt before the lease's next call, and
// before another gets its place.
func TestLeaseProbe(t *testing.T) {
	probes := 0
	ill := false
	with := func(s *fakeSlot) {
		s.kind = func(f *fake) {
			f.probe = func(ctx context.Context) error {
				probes++
				if ill {
					<-ctx.Done()
				}
				return ctx.Err()
			}
		}
	}
	bubble(t, 1, Options{Probe: true}, with, func(t *testing.T, p *Pool, slots []*fakeSlot) {
		late := func(l *Lease) {
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			defer cancel()
			want(t, call(t, l, ctx, "second", "1"), hook.Timeout)
		}
		l := lease(t, p)
		late(l)
		good(t, l)
		good(t, l)
		if probes != 1 {
			t.Errorf("%d probes, want 1", probes)
		}
		late(l)
		l.Close()
		good(t, p)
		if probes != 2 {
			t.Errorf("%d probes, want 2", probes)
		}
		l = lease(t, p)
		ill = true
		late(l)
		late(l) // had no time for the probe
		want(t, call(t, l, t.Context(), "echo", "1"), hook.Unavailable)
		l.Close()
		ill = false
		good(t, p)
		if slots[0].current().pid != 2 {
			t.Errorf("instance %d is there, want the second", slots[0].current().pid)
		}
	})
}
