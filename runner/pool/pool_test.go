package pool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
)

// TestFates has a row for each kind, and each does what it says.
func TestFates(t *testing.T) {
	for _, kind := range hook.Kinds() {
		v, ok := fates[kind]
		if !ok {
			t.Errorf("%v has no row", kind)
		}
		sent, unsent := judge(&hook.Error{Kind: kind, Begun: true}), judge(&hook.Error{Kind: kind})
		if sent.again || unsent.doubt {
			t.Errorf("%v: what was sent is made again, or what was not is in doubt", kind)
		}
		if sent.fate != v.fate || unsent.fate != v.fate || unsent.again != v.again || sent.doubt != v.doubt {
			t.Errorf("%v: judged %+v and %+v, want as %+v", kind, sent, unsent, v)
		}
		if v.again && v.fate == kept {
			t.Errorf("%v: is made again in the same instance", kind)
		}
	}
	if len(fates) != len(hook.Kinds()) {
		t.Errorf("%d rows, want %d", len(fates), len(hook.Kinds()))
	}
	foreign := errors.New("foreign")
	if v := judge(foreign); v != (verdict{err: foreign}) {
		t.Errorf("an error of another sort: %+v", v)
	}
}

// TestWarm gives a call to the slot with the most room, else to that used last.
func TestWarm(t *testing.T) {
	bubble(t, 3, Options{Concurrency: 2}, func(s *fakeSlot) { s.takes = 8 }, func(t *testing.T, p *Pool, slots []*fakeSlot) {
		running := func() (n [3]int) {
			for i, s := range p.Stats().Slots {
				n[i] = s.Running
			}
			return n
		}
		const warm = 1 // where a call ends last
		var wg sync.WaitGroup
		for range 2 {
			wg.Go(func() { _ = call(t, p, t.Context(), "second", "1") })
			time.Sleep(time.Millisecond)
		}
		wg.Wait()
		for range 5 {
			good(t, p)
		}
		if n := slots[warm].current().calls; n != 6 {
			t.Errorf("the warm slot had %d calls, want all after the first two: %+v", n, p.Stats())
		}
		for i := range 6 {
			wg.Go(func() { _ = call(t, p, t.Context(), "second", "1") })
			synctest.Wait()
			now := running()
			if i == 0 && now[warm] != 1 {
				t.Errorf("the first call went to %v, want slot %d", now, warm)
			}
			if i == 2 && now != [3]int{1, 1, 1} {
				t.Errorf("three calls: %v", now)
			}
		}
		if now := running(); now != [3]int{2, 2, 2} {
			t.Errorf("six calls: %v", now)
		}
		wg.Go(func() { _ = call(t, p, t.Context(), "second", "1") })
		synctest.Wait()
		if st := p.Stats(); st.Queued != 1 || st.Running != 6 {
			t.Errorf("the seventh: %+v, want it to wait", st)
		}
		wg.Wait()
	})
}

// TestCrash fails the calls that were running and no other.
func TestCrash(t *testing.T) {
	bubble(t, 1, Options{Concurrency: 2}, func(s *fakeSlot) { s.takes, s.start = 2, 3*time.Second }, func(t *testing.T, p *Pool, slots []*fakeSlot) {
		good(t, p) // waits for the start
		errs := make([]error, 5)
		var wg sync.WaitGroup
		for i := range errs {
			wg.Go(func() { errs[i] = call(t, p, t.Context(), "second", fmt.Sprint(i)) })
			synctest.Wait()
		}
		slots[0].current().end()
		wg.Wait()
		for i, err := range errs {
			if i >= 2 && err != nil {
				t.Errorf("call %d, which waited: %v", i, err)
			}
			if i < 2 {
				if e := want(t, err, hook.Crash); e.Exit == nil || !e.Begun {
					t.Errorf("call %d: %+v, want how it ended", i, e)
				}
			}
		}
		if pid := slots[0].current().pid; pid != 2 {
			t.Errorf("instance %d is ready, want 2", pid)
		}
	})
}

// TestManyCrashes answers good calls between and after crashes.
func TestManyCrashes(t *testing.T) {
	bubble(t, 1, Options{}, func(s *fakeSlot) { s.start = time.Millisecond }, func(t *testing.T, p *Pool, _ []*fakeSlot) {
		for range 100 {
			want(t, call(t, p, t.Context(), "crash", "1"), hook.Crash)
			good(t, p)
		}
		st := p.Stats()
		if st.Calls != 200 || st.Failed != 100 || st.Slots[0] != (SlotStats{PID: 101, Calls: 200, Failed: 100}) {
			t.Errorf("got %+v", st)
		}
	})
}

// TestRepeat makes a call that was refused unsent again, elsewhere.
func TestRepeat(t *testing.T) {
	refuse := func(s *fakeSlot) {
		s.kind = func(f *fake) { f.refuses = f.pid == 1 }
		s.start = time.Second
	}
	bubble(t, 1, Options{}, refuse, func(t *testing.T, p *Pool, slots []*fakeSlot) {
		time.Sleep(2 * time.Second)
		first := slots[0].current()
		good(t, p)
		synctest.Wait()
		if !ended(first) || len(slots[0].replaced()) != 1 {
			t.Errorf("the one that refused was replaced %d times, or stays", len(slots[0].replaced()))
		}
		if st := p.Stats(); st.Calls != 1 || st.Failed != 0 {
			t.Errorf("got %+v, want one good call", st)
		}
	})
	several := func(s *fakeSlot) { s.kind = func(f *fake) { f.refuses = f.pid <= 3 }; s.takes = 4 }
	bubble(t, 1, Options{Concurrency: 4}, several, func(t *testing.T, p *Pool, slots []*fakeSlot) {
		good(t, p)
		if n := len(slots[0].errs); n != 3 {
			t.Errorf("%d instances refused the call, want 3", n)
		}
	})
	always := func(s *fakeSlot) { s.kind = func(f *fake) { f.refuses = true } }
	bubble(t, 1, Options{}, always, func(t *testing.T, p *Pool, slots []*fakeSlot) {
		want(t, call(t, p, t.Context(), "echo", "1"), hook.Unavailable)
		if n := len(slots[0].errs); n != 2 {
			t.Errorf("%d instances refused the call, want 2", n)
		}
	})
	bubble(t, 1, Options{}, refuse, func(t *testing.T, p *Pool, slots []*fakeSlot) {
		time.Sleep(2 * time.Second)
		var input iter.Seq2[json.RawMessage, error] = func(func(json.RawMessage, error) bool) {}
		_, err := p.Call(t.Context(), hook.Call{Hook: "echo", Input: input})
		want(t, err, hook.Unavailable)
	})
}

// TestIdleDeath takes the next call to another instance, or to the next one.
func TestIdleDeath(t *testing.T) {
	bubble(t, 2, Options{}, func(s *fakeSlot) { s.start = time.Second }, func(t *testing.T, p *Pool, slots []*fakeSlot) {
		time.Sleep(2 * time.Second)
		began := time.Now()
		slots[0].current().end()
		good(t, p)
		if took := time.Since(began); took != 0 {
			t.Errorf("with another instance it took %v", took)
		}
		for _, s := range slots {
			if f := s.current(); f != nil {
				f.end()
			}
		}
		good(t, p)
	})
}

// TestPanic condemns the instance of a call that never returned.
func TestPanic(t *testing.T) {
	bubble(t, 1, Options{}, nil, func(t *testing.T, p *Pool, slots []*fakeSlot) {
		first := slots[0].current()
		func() {
			defer func() { _ = recover() }()
			_ = call(t, p, t.Context(), "panic", "1")
		}()
		good(t, p)
		if !ended(first) || len(slots[0].replaced()) != 1 {
			t.Error("it was not replaced")
		}
		l := lease(t, p)
		func() {
			defer func() { _ = recover() }()
			_ = call(t, l, t.Context(), "panic", "1")
		}()
		want(t, call(t, l, t.Context(), "echo", "1"), hook.Unavailable)
		l.Close()
		good(t, p)
	})
}

// TestNoPoison follows a call that ran out of time by one that must not suffer.
func TestNoPoison(t *testing.T) {
	for name, c := range map[string]struct {
		hook  string
		after time.Duration // when the next is answered, after the limit
		pid   int
	}{
		"answers the interrupt":      {"second", 0, 1},
		"answers it late":            {"stubborn", 100 * time.Millisecond, 1},
		"does not answer, is killed": {"deaf", 206 * time.Millisecond, 2},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, 1, Options{}, func(s *fakeSlot) { s.start = 6 * time.Millisecond }, func(t *testing.T, p *Pool, slots []*fakeSlot) {
				good(t, p)
				ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
				defer cancel()
				began := time.Now()
				var wg sync.WaitGroup
				var late error
				wg.Go(func() { late = call(t, p, ctx, c.hook, "1") })
				synctest.Wait()
				r, err := p.Call(t.Context(), hook.Call{Hook: "pid"})
				if err != nil || string(r.Value) != fmt.Sprint(c.pid) {
					t.Errorf("the next call: %s %v, want instance %d", r.Value, err, c.pid)
				}
				if after := time.Since(began) - 500*time.Millisecond; after != c.after {
					t.Errorf("the next call was answered %v after the limit, want %v", after, c.after)
				}
				wg.Wait()
				want(t, late, hook.Timeout)
			})
		})
	}
}

// TestProbe asks an instance in doubt before another call gets its place.
func TestProbe(t *testing.T) {
	for name, c := range map[string]struct {
		takes time.Duration
		err   error
		pid   int
		after time.Duration
	}{
		"healthy":   {time.Second, nil, 1, time.Second},
		"unhealthy": {time.Second, errors.New("ill"), 2, time.Second + time.Millisecond + staleWait},
		"silent":    {time.Hour, nil, 2, probeLimit + time.Millisecond + staleWait},
	} {
		t.Run(name, func(t *testing.T) {
			probe := func(ctx context.Context) error {
				select {
				case <-time.After(c.takes):
					return c.err
				case <-ctx.Done():
					return ctx.Err()
				}
			}
			with := func(s *fakeSlot) {
				s.start = time.Millisecond
				s.kind = func(f *fake) { f.probe = probe }
			}
			bubble(t, 1, Options{Probe: true}, with, func(t *testing.T, p *Pool, slots []*fakeSlot) {
				good(t, p)
				ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
				defer cancel()
				began := time.Now()
				want(t, call(t, p, ctx, "second", "1"), hook.Timeout)
				if took := time.Since(began); took != 100*time.Millisecond {
					t.Errorf("the limit was told after %v", took)
				}
				began = time.Now()
				r, err := p.Call(t.Context(), hook.Call{Hook: "pid"})
				if err != nil || string(r.Value) != fmt.Sprint(c.pid) || time.Since(began) != c.after {
					t.Errorf("the next call: %s %v after %v, want instance %d after %v", r.Value, err, time.Since(began), c.pid, c.after)
				}
			})
		})
	}
}

// TestProbeBusy gives an instance in doubt no further call, however many come: it
// is replaced, unless it answers one of those that it has.
func TestProbeBusy(t *testing.T) {
	for name, c := range map[string]struct {
		other string // runs beside the one that is late
		early time.Duration
		pid   string
		after time.Duration // the limit of the one that is late
	}{
		"hangs":   {"", 0, "2", probeLimit + staleWait},
		"answers": {"second", 0, "1", probeLimit},
		"works":   {"long", 0, "2", probeLimit + staleWait},
		"before":  {"second", time.Second, "2", probeLimit + staleWait}, // answered, but before the limit
	} {
		t.Run(name, func(t *testing.T) {
			with := func(s *fakeSlot) {
				s.takes = 3
				s.kind = func(f *fake) {
					if f.pid == 1 {
						f.probe = func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
					}
				}
			}
			bubble(t, 1, Options{Probe: true, Concurrency: 3}, with, func(t *testing.T, p *Pool, slots []*fakeSlot) {
				var wg sync.WaitGroup
				if c.other != "" {
					wg.Go(func() {
						if err := call(t, p, t.Context(), c.other, "1"); err != nil {
							t.Errorf("the other call: %v", err)
						}
					})
					synctest.Wait()
				}
				time.Sleep(c.early)
				late := func() {
					ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
					defer cancel()
					want(t, call(t, p, ctx, "second", "1"), hook.Timeout)
				}
				late()
				began := time.Now()
				if e := want(t, call(t, p, timed(t, 50*time.Millisecond), "echo", "1"), hook.Timeout); e.Begun {
					t.Error("a call was sent to an instance in doubt")
				}
				r, err := p.Call(t.Context(), hook.Call{Hook: "pid"})
				if err != nil || string(r.Value) != c.pid || time.Since(began) != c.after {
					t.Errorf("the next call: %s %v after %v, want instance %s after %v", r.Value, err, time.Since(began), c.pid, c.after)
				}
				wg.Wait()
			})
		})
	}
}

// TestWholeLimit tells the limit that a call had, not what an instance saw of it.
func TestWholeLimit(t *testing.T) {
	with := func(s *fakeSlot) { s.start = 700 * time.Millisecond }
	bubble(t, 1, Options{}, with, func(t *testing.T, p *Pool, _ []*fakeSlot) {
		e := want(t, call(t, p, timed(t, time.Second), "second", "1"), hook.Timeout)
		if !e.Begun || e.Hook != "second" || e.Error() != "no result within 1s" {
			t.Errorf("got %v", e)
		}
		e = want(t, call(t, p, timed(t, 300*time.Millisecond), "second", "1"), hook.Timeout)
		if e.Error() != "no result within 300ms" {
			t.Errorf("got %v", e)
		}
	})
}

// timed is a context with a limit.
func timed(t *testing.T, limit time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	t.Cleanup(cancel)
	return ctx
}

// TestNoSlots is a mistake in the program.
func TestNoSlots(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a pool without slots was made")
		}
	}()
	New(nil, Options{})
}
