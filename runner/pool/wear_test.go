package pool

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// oneReason checks that a slot was asked to replace its instance once.
func oneReason(t *testing.T, s *fakeSlot, reason string) {
	t.Helper()
	if got := s.replaced(); len(got) != 1 || !strings.Contains(got[0], reason) {
		t.Errorf("replaced %q, want one for %q", got, reason)
	}
}

// TestMaxCalls replaces an instance after its calls, without a gap.
func TestMaxCalls(t *testing.T) {
	bubble(t, 1, Options{MaxCalls: 100}, func(s *fakeSlot) { s.start = 10 * time.Second }, func(t *testing.T, p *Pool, slots []*fakeSlot) {
		good(t, p)
		old := slots[0].current()
		began := time.Now()
		for range 100 {
			good(t, p)
		}
		synctest.Wait()
		oneReason(t, slots[0], "answered")
		if time.Since(began) != 0 || old != slots[0].current() {
			t.Errorf("calls waited %v for the replacement", time.Since(began))
		}
		time.Sleep(11 * time.Second)
		good(t, p)
		if !ended(old) || slots[0].current() == old {
			t.Error("the old one still serves")
		}
	})
	bubble(t, 1, Options{MaxCalls: 1}, nil, func(t *testing.T, p *Pool, slots []*fakeSlot) {
		for range 5 {
			good(t, p)
			time.Sleep(time.Second)
		}
		synctest.Wait()
		if pid := slots[0].current().pid; pid != 6 {
			t.Errorf("instance %d is ready, want a fresh one for each of 5 calls", pid)
		}
	})
}

// TestReplaceAgain asks again when no replacement could be started, once a
// minute, and not while one starts.
func TestReplaceAgain(t *testing.T) {
	opt := Options{MaxCalls: 1, MaxMemory: 1, Memory: func(int) (int64, bool) { return 2, true }}
	asked := func(t *testing.T, p *Pool, s *fakeSlot) int {
		for range 100 {
			good(t, p)
			time.Sleep(time.Second)
		}
		return len(s.replaced())
	}
	bubble(t, 1, opt, nil, func(t *testing.T, p *Pool, slots []*fakeSlot) {
		slots[0].failing(errors.New("broken"))
		if n := asked(t, p, slots[0]); n != 2 {
			t.Errorf("asked %d times in 100 s, want 2", n)
		}
	})
	bubble(t, 1, opt, func(s *fakeSlot) { s.start = time.Hour }, func(t *testing.T, p *Pool, slots []*fakeSlot) {
		time.Sleep(2 * time.Hour)
		if n := asked(t, p, slots[0]); n != 1 {
			t.Errorf("asked %d times in 100 s of a start, want 1", n)
		}
	})
}

// TestStaysOld asks again for an instance that nobody calls.
func TestStaysOld(t *testing.T) {
	bubble(t, 1, Options{MaxAge: time.Hour}, nil, func(t *testing.T, p *Pool, slots []*fakeSlot) {
		slots[0].failing(errors.New("broken"))
		time.Sleep(2 * time.Hour)
		if n := len(slots[0].replaced()); n < 60 || n > 76 {
			t.Errorf("asked %d times in an hour, want once a minute", n)
		}
	})
}

// TestRenewWorn takes the replacement of a worn instance into use at once.
func TestRenewWorn(t *testing.T) {
	with := func(s *fakeSlot) { s.start = 100 * time.Millisecond }
	bubble(t, 1, Options{MaxCalls: 1}, with, func(t *testing.T, p *Pool, _ []*fakeSlot) {
		good(t, p)
		began := time.Now()
		var wg sync.WaitGroup
		wg.Go(func() { _ = call(t, p, t.Context(), "second", "1") })
		synctest.Wait()
		good(t, p)
		if took := time.Since(began); took != 100*time.Millisecond {
			t.Errorf("a call waited %v, want no longer than the replacement took", took)
		}
		wg.Wait()
	})
}

// TestRenew takes a replacement into use at once, though a call still runs in the
// old instance.
func TestRenew(t *testing.T) {
	bubble(t, 2, Options{}, nil, func(t *testing.T, p *Pool, slots []*fakeSlot) {
		var wg sync.WaitGroup
		old := slots[0].current()
		for range 2 {
			wg.Go(func() {
				if err := call(t, p, t.Context(), "second", "1"); err != nil {
					t.Errorf("in the old one: %v", err)
				}
			})
		}
		synctest.Wait()
		began := time.Now()
		wg.Go(func() { good(t, p) })
		synctest.Wait()
		if err := p.Replace(t.Context(), "a test"); err != nil {
			t.Errorf("replacing: %v", err)
		}
		synctest.Wait()
		if st := p.Stats(); st.Queued != 0 || st.Running != 2 || time.Since(began) != 0 || ended(old) {
			t.Errorf("got %+v after %v", st, time.Since(began))
		}
		wg.Wait()
		if !ended(old) {
			t.Error("the old one stays")
		}
		broken := errors.New("broken")
		slots[0].failing(broken)
		if err := p.Replace(t.Context(), "a test"); !errors.Is(err, broken) || len(slots[1].replaced()) != 1 {
			t.Errorf("got %v, want that the first fails and the second is left alone", err)
		}
	})
}

// TestMaxAge replaces instances between three quarters of the limit and all of
// it, not all at once, and never during a call.
func TestMaxAge(t *testing.T) {
	with := func(s *fakeSlot) { s.start = time.Minute }
	bubble(t, 8, Options{MaxAge: time.Hour}, with, func(t *testing.T, p *Pool, slots []*fakeSlot) {
		time.Sleep(time.Minute)
		began := time.Now()
		var wg sync.WaitGroup
		time.Sleep(45*time.Minute - time.Millisecond)
		for range 8 {
			wg.Go(func() {
				for time.Since(began) < 61*time.Minute {
					if err := call(t, p, t.Context(), "second", "1"); err != nil {
						t.Errorf("while they are replaced: %v", err)
					}
				}
			})
		}
		wg.Wait()
		var when []time.Time
		for _, s := range slots {
			oneReason(t, s, "old")
			when = append(when, s.asked...)
		}
		slices.SortFunc(when, time.Time.Compare)
		first, last := when[0].Sub(began), when[len(when)-1].Sub(began)
		if first < 45*time.Minute || last > time.Hour {
			t.Errorf("replaced from %v to %v", first, last)
		}
		if last-first < time.Minute {
			t.Errorf("all were replaced within %v", last-first)
		}
	})
}

// TestIdleTime replaces an instance that was used and is idle, once, and none
// that was not used.
func TestIdleTime(t *testing.T) {
	bubble(t, 2, Options{IdleTime: 10 * time.Minute}, nil, func(t *testing.T, p *Pool, slots []*fakeSlot) {
		var wg sync.WaitGroup
		wg.Go(func() { _ = call(t, p, t.Context(), "second", "1") }) // takes one slot
		synctest.Wait()
		for range 60 { // and these the other
			good(t, p)
			time.Sleep(time.Minute)
		}
		wg.Wait()
		idle, busy := slots[0], slots[1]
		if len(idle.replaced()) == 0 {
			idle, busy = busy, idle
		}
		oneReason(t, idle, "idle for")
		if n := len(busy.replaced()); n != 0 {
			t.Errorf("the one that is used was replaced %d times", n)
		}
		time.Sleep(24 * time.Hour)
		oneReason(t, idle, "idle for")
		oneReason(t, busy, "idle for")
	})
}

// TestIdleNotDuringCall does not take a long call for idleness.
func TestIdleNotDuringCall(t *testing.T) {
	bubble(t, 1, Options{IdleTime: 100 * time.Millisecond}, nil, func(t *testing.T, p *Pool, slots []*fakeSlot) {
		good(t, p)
		if err := call(t, p, t.Context(), "second", "1"); err != nil {
			t.Errorf("a long call: %v", err)
		}
		if n := len(slots[0].replaced()); n != 0 {
			t.Errorf("replaced %d times during a call", n)
		}
	})
}

// TestMaxMemory weighs after calls only, and replaces what is too heavy.
func TestMaxMemory(t *testing.T) {
	var weight, weighed atomic.Int64
	weight.Store(50 << 20)
	opt := Options{MaxMemory: 100 << 20, Memory: func(pid int) (int64, bool) {
		weighed.Add(1)
		return weight.Load(), pid < 3
	}}
	bubble(t, 1, opt, nil, func(t *testing.T, p *Pool, slots []*fakeSlot) {
		for range 100 {
			good(t, p)
			time.Sleep(10 * time.Millisecond)
		}
		time.Sleep(time.Hour)
		if n := weighed.Load(); n < 1 || n > 3 {
			t.Errorf("weighed %d times in a second of calls and an hour of none", n)
		}
		weight.Store(200 << 20)
		good(t, p)
		time.Sleep(weighEvery)
		oneReason(t, slots[0], "it takes 200 MB of memory, at most 100 MB were wanted")
		weight.Store(50 << 20)
		for range 5 {
			good(t, p)
			time.Sleep(time.Minute)
		}
		oneReason(t, slots[0], "it takes")
		slots[0].current().end()
		weight.Store(200 << 20)
		good(t, p) // in the third, whose memory cannot be told
		time.Sleep(time.Minute)
		oneReason(t, slots[0], "it takes")
	})
}

// TestOldCalls lets the calls in an old instance end in it.
func TestOldCalls(t *testing.T) {
	bubble(t, 1, Options{Concurrency: 2, MaxCalls: 1}, func(s *fakeSlot) { s.takes = 2 }, func(t *testing.T, p *Pool, slots []*fakeSlot) {
		var wg sync.WaitGroup
		old := slots[0].current()
		wg.Go(func() {
			if err := call(t, p, t.Context(), "second", "1"); err != nil {
				t.Errorf("the call in the old one: %v", err)
			}
			if n := p.Stats().Slots[0].PID; n == old.pid {
				t.Error("the slot still has the old one")
			}
		})
		synctest.Wait()
		good(t, p)
		time.Sleep(10 * time.Millisecond)
		good(t, p)
		if slots[0].current() == old || ended(old) {
			t.Error("there is no new one, or the old one was ended during a call")
		}
		wg.Wait()
		synctest.Wait()
		if !ended(old) {
			t.Error("the old one is still there")
		}
	})
}
