package pool

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
)

// TestFull refuses a call when as many wait as may.
func TestFull(t *testing.T) {
	bubble(t, 1, Options{Queue: 2}, nil, func(t *testing.T, p *Pool, _ []*fakeSlot) {
		var wg sync.WaitGroup
		for i := range 3 {
			wg.Go(func() { _ = call(t, p, t.Context(), "second", fmt.Sprint(i)) })
		}
		synctest.Wait()
		e := want(t, call(t, p, t.Context(), "echo", "1"), hook.Unavailable)
		if e.Error() != "the queue is full: 2 calls wait" || e.Begun || e.Hook != "echo" {
			t.Errorf("got %+v", e)
		}
		if st := p.Stats(); st.Failed != 1 || st.Queued != 2 {
			t.Errorf("got %+v", st)
		}
		wg.Wait()
		good(t, p)
	})
}

// TestQueueTimeout bounds the wait for a place, and that for a start.
func TestQueueTimeout(t *testing.T) {
	opt := Options{QueueTimeout: 300 * time.Millisecond}
	bubble(t, 1, opt, func(s *fakeSlot) { s.start = 10 * time.Second }, func(t *testing.T, p *Pool, _ []*fakeSlot) {
		for range 3 { // a waiter is used again
			began := time.Now()
			e := want(t, call(t, p, t.Context(), "echo", "1"), hook.Unavailable)
			if e.Error() != "no instance was free within 300ms" || e.Begun || time.Since(began) != opt.QueueTimeout {
				t.Errorf("got %+v after %v", e, time.Since(began))
			}
		}
		time.Sleep(10 * time.Second)
		var wg sync.WaitGroup
		wg.Go(func() { _ = call(t, p, t.Context(), "second", "1") })
		synctest.Wait()
		want(t, call(t, p, t.Context(), "echo", "1"), hook.Unavailable)
		wg.Wait()
		good(t, p)
	})
}

// TestLeaveQueue lets a call go at once whose caller gave up.
func TestLeaveQueue(t *testing.T) {
	bubble(t, 1, Options{}, nil, func(t *testing.T, p *Pool, slots []*fakeSlot) {
		var wg sync.WaitGroup
		wg.Go(func() { _ = call(t, p, t.Context(), "second", "1") })
		synctest.Wait()
		began := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 400*time.Millisecond)
		defer cancel()
		e := want(t, call(t, p, ctx, "echo", "1"), hook.Timeout)
		if e.Begun || e.Error() != "no instance was free within 400ms" || time.Since(began) != 400*time.Millisecond {
			t.Errorf("got %+v after %v", e, time.Since(began))
		}
		why := errors.New("interrupted")
		stopped, stop := context.WithCancelCause(t.Context())
		time.AfterFunc(100*time.Millisecond, func() { stop(why) })
		if e := want(t, call(t, p, stopped, "echo", "1"), hook.Canceled); e.Begun || !errors.Is(e, why) {
			t.Errorf("got %+v", e)
		}
		want(t, call(t, p, stopped, "echo", "1"), hook.Canceled)
		wg.Wait()
		want(t, call(t, p, stopped, "echo", "1"), hook.Canceled) // also where a place is free
		if n := slots[0].current().calls; n != 1 {
			t.Errorf("the instance saw %d calls, want 1", n)
		}
		good(t, p)
	})
}

// TestFair answers in the order of asking, whoever leaves in between.
func TestFair(t *testing.T) {
	bubble(t, 1, Options{}, nil, func(t *testing.T, p *Pool, _ []*fakeSlot) {
		var mu sync.Mutex
		var order, wanted []int
		var wg sync.WaitGroup
		wg.Go(func() { _ = call(t, p, t.Context(), "second", "1") })
		synctest.Wait()
		for i := range 50 {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if i%7 == 3 {
				time.AfterFunc(500*time.Millisecond, cancel)
			} else {
				wanted = append(wanted, i)
			}
			wg.Go(func() {
				if call(t, p, ctx, "second", fmt.Sprint(i)) == nil {
					mu.Lock()
					order = append(order, i)
					mu.Unlock()
				}
			})
			synctest.Wait()
		}
		wg.Wait()
		if !slices.Equal(order, wanted) {
			t.Errorf("answered in the order %v, want %v", order, wanted)
		}
	})
}

// TestRepeatedFirst has a call that is made again wait in front, also of a full
// queue.
func TestRepeatedFirst(t *testing.T) {
	with := func(s *fakeSlot) {
		s.kind = func(f *fake) { f.refuses, f.slow = f.pid == 1, true }
	}
	bubble(t, 1, Options{Queue: 1}, with, func(t *testing.T, p *Pool, _ []*fakeSlot) {
		var mu sync.Mutex
		var order []int
		var wg sync.WaitGroup
		for i := range 2 { // the second waits while the first is refused
			wg.Go(func() {
				if err := call(t, p, t.Context(), "second", fmt.Sprint(i)); err != nil {
					t.Errorf("call %d: %v", i, err)
				}
				mu.Lock()
				defer mu.Unlock()
				order = append(order, i)
			})
			synctest.Wait()
		}
		wg.Wait()
		if !slices.Equal(order, []int{0, 1}) {
			t.Errorf("answered in the order %v", order)
		}
	})
}

// TestServeAll gives every place of an instance that comes to those who wait.
func TestServeAll(t *testing.T) {
	with := func(s *fakeSlot) { s.start, s.takes = time.Second, 4 }
	bubble(t, 1, Options{Concurrency: 4}, with, func(t *testing.T, p *Pool, _ []*fakeSlot) {
		began := time.Now()
		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() { _ = call(t, p, t.Context(), "second", fmt.Sprint(i)) })
		}
		wg.Wait()
		if took := time.Since(began); took != 3*time.Second {
			t.Errorf("a start and two rounds of 4 calls took %v, want 3s", took)
		}
	})
}

// TestDrainRepeated waits for a call that is made again.
func TestDrainRepeated(t *testing.T) {
	with := func(s *fakeSlot) {
		s.kind = func(f *fake) { f.refuses, f.slow = f.pid == 1, true }
	}
	bubble(t, 1, Options{}, with, func(t *testing.T, p *Pool, _ []*fakeSlot) {
		var wg sync.WaitGroup
		began := time.Now()
		wg.Go(func() {
			if err := call(t, p, t.Context(), "second", "1"); err != nil {
				t.Errorf("the call: %v", err)
			}
		})
		synctest.Wait()
		if err := p.Drain(t.Context()); err != nil || time.Since(began) < 1500*time.Millisecond {
			t.Errorf("drained after %v: %v", time.Since(began), err)
		}
		wg.Wait()
	})
}

// TestCondemnedStays tells why an instance that takes no more calls could not be
// replaced.
func TestCondemnedStays(t *testing.T) {
	with := func(s *fakeSlot) { s.kind = func(f *fake) { f.refuses = f.pid == 1 } }
	bubble(t, 1, Options{}, with, func(t *testing.T, p *Pool, slots []*fakeSlot) {
		slots[0].failing(&hook.Error{Kind: hook.Start, Err: errors.New("broken")})
		for range 2 {
			want(t, call(t, p, t.Context(), "echo", "1"), hook.Start)
		}
		slots[0].failing(nil)
		good(t, p)
	})
}

// TestGaveUp tells those who wait why the last slot gave up, and not before.
func TestGaveUp(t *testing.T) {
	cause := &hook.Error{Kind: hook.Start, Begun: true, Err: errors.New("no module named x")}
	bubble(t, 2, Options{}, func(s *fakeSlot) { s.start = time.Second }, func(t *testing.T, p *Pool, slots []*fakeSlot) {
		slots[0].failing(cause)
		good(t, p) // the other slot is there
		var wg sync.WaitGroup
		wg.Go(func() { _ = call(t, p, t.Context(), "second", "1") })
		synctest.Wait()
		good(t, p) // waits for it, though the first gives up again
		wg.Wait()
		slots[1].failing(cause)
		slots[1].current().end()
		e := want(t, call(t, p, t.Context(), "echo", "1"), hook.Start)
		if e.Hook != "echo" || e.Begun || e.Err != cause.Err {
			t.Errorf("got %+v", e)
		}
		asked := slots[0].acquires
		time.Sleep(time.Hour)
		if slots[0].acquires != asked {
			t.Errorf("a slot that gave up was asked %d times while nobody called", slots[0].acquires-asked)
		}
		for _, s := range slots {
			s.failing(nil)
		}
		good(t, p)
	})
	bubble(t, 1, Options{}, func(s *fakeSlot) { s.fail = errors.New("foreign") }, func(t *testing.T, p *Pool, _ []*fakeSlot) {
		want(t, call(t, p, t.Context(), "echo", "1"), hook.Unavailable)
	})
}

// TestDrain lets nobody in and waits for the rest.
func TestDrain(t *testing.T) {
	bubble(t, 1, Options{}, nil, func(t *testing.T, p *Pool, _ []*fakeSlot) {
		var wg sync.WaitGroup
		errs := make([]error, 3)
		for i := range errs {
			wg.Go(func() { errs[i] = call(t, p, t.Context(), "second", fmt.Sprint(i)) })
		}
		synctest.Wait()
		short, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		if e := want(t, p.Drain(short), hook.Timeout); e.Error() != "the calls did not end within 100ms" {
			t.Errorf("got %v", e)
		}
		if e := want(t, call(t, p, t.Context(), "echo", "1"), hook.Unavailable); !errors.Is(e, ErrStopping) {
			t.Errorf("got %v", e)
		}
		_, err := p.Lease(t.Context())
		want(t, err, hook.Unavailable)
		for range 2 {
			if err := p.Drain(t.Context()); err != nil {
				t.Errorf("draining: %v", err)
			}
		}
		wg.Wait()
		if err := errors.Join(errs...); err != nil {
			t.Errorf("those who were in: %v", err)
		}
	})
	bubble(t, 1, Options{}, nil, func(t *testing.T, p *Pool, _ []*fakeSlot) {
		if err := p.Drain(t.Context()); err != nil {
			t.Errorf("draining an idle pool: %v", err)
		}
	})
}

// TestClose answers those who wait at once and ends those who run.
func TestClose(t *testing.T) {
	bubble(t, 2, Options{}, func(s *fakeSlot) { s.start = time.Second }, func(t *testing.T, p *Pool, slots []*fakeSlot) {
		time.Sleep(2 * time.Second)
		slots[1].current().end() // and is being started again
		errs := make([]error, 4)
		var wg sync.WaitGroup
		began := time.Now()
		for i := range errs {
			wg.Go(func() { errs[i] = call(t, p, t.Context(), "second", fmt.Sprint(i)) })
			synctest.Wait()
		}
		for range 2 {
			if err := p.Close(t.Context()); err != nil {
				t.Errorf("closing: %v", err)
			}
		}
		wg.Wait()
		want(t, errs[0], hook.Crash)
		for _, err := range errs[1:] {
			if e := want(t, err, hook.Unavailable); !errors.Is(e, ErrStopping) {
				t.Errorf("got %v", e)
			}
		}
		if took := time.Since(began); took != 0 {
			t.Errorf("it took %v", took)
		}
		want(t, call(t, p, t.Context(), "echo", "1"), hook.Unavailable)
		if err := p.Drain(t.Context()); err != nil {
			t.Errorf("draining: %v", err)
		}
		time.Sleep(time.Minute)
	})
}

// TestStale waits a moment for a slot that gives an instance that has ended.
func TestStale(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSlot(t)
		stale := &staleSlot{fakeSlot: s, old: &fake{slot: s, pid: 9, takes: 1, done: make(chan struct{})}}
		stale.old.end()
		p := New([]Slot{stale}, Options{})
		began := time.Now()
		good(t, p)
		if took := time.Since(began); took != 3*staleWait {
			t.Errorf("it took %v, want %v", took, 3*staleWait)
		}
		if err := p.Close(t.Context()); err != nil {
			t.Errorf("closing: %v", err)
		}
	})
}

// staleSlot gives an instance that has ended three times.
type staleSlot struct {
	*fakeSlot
	old   *fake
	given int
}

func (s *staleSlot) Acquire(ctx context.Context) (Hold, error) {
	if s.given++; s.given > 3 {
		return s.fakeSlot.Acquire(ctx)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.hold(s.old), nil
}

// TestLateFiller never takes a slot back to an older instance.
func TestLateFiller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSlot(t)
		p := New([]Slot{&lateSlot{s}}, Options{})
		time.Sleep(500 * time.Millisecond) // the filler has a hold on the first
		if err := p.Replace(t.Context(), "a test"); err != nil {
			t.Errorf("replacing: %v", err)
		}
		var wg sync.WaitGroup
		for i := range 3 { // the fake minds two at once
			wg.Go(func() {
				if err := call(t, p, t.Context(), "second", fmt.Sprint(i)); err != nil {
					t.Errorf("call %d: %v", i, err)
				}
			})
			time.Sleep(400 * time.Millisecond)
		}
		wg.Wait()
		if err := p.Close(t.Context()); err != nil {
			t.Errorf("closing: %v", err)
		}
		s.free()
	})
}

// lateSlot tells of its instance a second late.
type lateSlot struct{ *fakeSlot }

func (s *lateSlot) Acquire(ctx context.Context) (Hold, error) {
	hold, err := s.fakeSlot.Acquire(ctx)
	time.Sleep(time.Second)
	return hold, err
}
