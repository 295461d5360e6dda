package pool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/runnertest"
)

// TestRandomCancels gives up 1 000 calls at random, in the queue and in the
// instance. No answer goes to another call, and no good call fails.
func TestRandomCancels(t *testing.T) {
	with := func(s *fakeSlot) { s.takes, s.start = 2, 10*time.Millisecond }
	bubble(t, 2, Options{Concurrency: 2}, with, func(t *testing.T, p *Pool, _ []*fakeSlot) {
		var wg sync.WaitGroup
		var canceled atomic.Int64
		for i := range 2000 {
			time.Sleep(rand.N(400 * time.Millisecond))
			wg.Go(func() {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				hooks := []string{"second", "stubborn", "deaf"}
				if i%2 == 0 {
					if err := call(t, p, ctx, "echo", fmt.Sprint(i)); err != nil {
						t.Errorf("call %d, which nobody gave up: %v", i, err)
					}
					return
				}
				time.AfterFunc(rand.N(1200*time.Millisecond), cancel)
				err := call(t, p, ctx, hooks[rand.IntN(3)], fmt.Sprint(i))
				var e *hook.Error
				if errors.As(err, &e) && e.Kind == hook.Canceled {
					canceled.Add(1)
				}
			})
		}
		wg.Wait()
		synctest.Wait()
		if n := canceled.Load(); n < 500 {
			t.Errorf("only %d calls were given up", n)
		}
		good(t, p)
	})
}

// TestClients answers 50 clients at once.
func TestClients(t *testing.T) {
	bubble(t, 4, Options{}, func(s *fakeSlot) { s.start = time.Second }, func(t *testing.T, p *Pool, _ []*fakeSlot) {
		var wg sync.WaitGroup
		for i := range 50 {
			wg.Go(func() {
				for j := range 100 {
					if err := call(t, p, t.Context(), "echo", fmt.Sprint(i*1000+j)); err != nil {
						t.Errorf("client %d: %v", i, err)
					}
				}
			})
		}
		wg.Wait()
		if st := p.Stats(); st.Calls != 5000 || st.Failed != 0 {
			t.Errorf("got %+v", st)
		}
	})
}

// TestStorm calls, crashes, leases, gives up, replaces and drains at random,
// with real threads, and then nothing is left.
func TestStorm(t *testing.T) {
	runnertest.NothingLeft(t)
	slots, keepers := make([]*fakeSlot, 3), make([]Slot, 3)
	for i := range slots {
		slots[i] = newSlot(t)
		slots[i].takes = i + 1
		slots[i].start = 100 * time.Microsecond
		keepers[i] = slots[i]
	}
	p := New(keepers, Options{Concurrency: 2, Queue: 20, MaxCalls: 50, MaxAge: 20 * time.Millisecond, IdleTime: 2 * time.Millisecond,
		MaxMemory: 1, Memory: func(int) (int64, bool) { return rand.Int64N(3), true }, Probe: true, QueueTimeout: 5 * time.Millisecond})
	var wg sync.WaitGroup
	for client := range 16 {
		wg.Go(func() {
			for i := range 500 {
				storm(t, p, slots, fmt.Sprint(client*1000+i))
			}
		})
	}
	wg.Wait()
	if err := p.Drain(t.Context()); err != nil {
		t.Errorf("draining: %v", err)
	}
	if err := p.Close(t.Context()); err != nil {
		t.Errorf("closing: %v", err)
	}
	for _, s := range slots {
		s.free()
	}
	if st := p.Stats(); st.Queued != 0 || st.Running != 0 || st.Calls == 0 {
		t.Errorf("after the storm: %+v", st)
	}
}

// storm does one thing at random.
func storm(t *testing.T, p *Pool, slots []*fakeSlot, value string) {
	ctx, cancel := context.WithTimeout(t.Context(), rand.N(3*time.Millisecond))
	defer cancel()
	switch rand.IntN(12) {
	case 0:
		_ = call(t, p, ctx, "crash", value)
	case 1:
		_ = call(t, p, ctx, "second", value)
	case 2:
		if f := slots[rand.IntN(len(slots))].current(); f != nil {
			f.end()
		}
	case 3:
		if l, err := p.Lease(ctx); err == nil {
			_ = call(t, l, ctx, "echo", value)
			_ = call(t, l, ctx, "second", value)
			l.Close()
		}
	case 4:
		_ = slots[rand.IntN(len(slots))].Replace(ctx, "storm")
	case 5:
		if f := slots[rand.IntN(len(slots))].current(); f != nil {
			f.mu.Lock()
			f.refuses = true
			f.mu.Unlock()
		}
	case 6:
		_ = p.Stats()
		_ = p.Replace(ctx, "storm")
	case 7:
		_ = call(t, p, ctx, "fail", value)
	default:
		_ = call(t, p, t.Context(), "echo", value)
	}
}

// steady is a slot whose instance stays and answers at once.
type steady struct {
	*fake
	places int
}

func (s steady) Concurrency() int { return s.places }
func (s steady) Call(_ context.Context, c hook.Call) (hook.Result, error) {
	return hook.Result{Item: hook.Item{Value: c.Args.JSON}}, nil
}

type steadySlot struct{ inst hook.Instance }

func (s *steadySlot) Acquire(context.Context) (Hold, error) { return s, nil }
func (s *steadySlot) TryAcquire() (Hold, bool)              { return s, true }
func (s *steadySlot) Instance() hook.Instance               { return s.inst }
func (s *steadySlot) Release(error)                         {}
func (s *steadySlot) Replace(context.Context, string) error { return nil }
func (s *steadySlot) Stop(context.Context) error            { return nil }

func steadyPool(n, places int, opt Options) *Pool {
	slots := make([]Slot, n)
	for i := range slots {
		slots[i] = &steadySlot{&steady{&fake{pid: 1, started: time.Now(), done: make(chan struct{})}, places}}
	}
	opt.Concurrency = places
	p := New(slots, opt)
	p.work.Wait() // all are filled
	return p
}

// TestNoAllocation calls without any where nobody waits.
func TestNoAllocation(t *testing.T) {
	p := steadyPool(2, 4, Options{MaxAge: time.Hour, MaxCalls: 1 << 40})
	defer func() { _ = p.Close(t.Context()) }()
	c := hook.Call{Hook: "echo", Args: hook.Args{JSON: json.RawMessage("1")}}
	ctx := t.Context()
	if n := testing.AllocsPerRun(1000, func() { _, _ = p.Call(ctx, c) }); n > 0 {
		t.Errorf("%v allocations for a call, want none", n)
	}
}

// BenchmarkHandOver is what the pool adds to a call: alone, with as many callers
// as places, and with more, who wait in the queue.
func BenchmarkHandOver(b *testing.B) {
	for _, bench := range []struct {
		name           string
		slots, callers int
		opt            Options
	}{
		{"alone", 1, 1, Options{}},
		{"recycled", 1, 1, Options{MaxAge: time.Hour, IdleTime: time.Hour}},
		{"8 slots", 8, 1, Options{}},
		{"room for all", 1, 8, Options{}},
		{"64 wait", 1, 72, Options{}},
	} {
		b.Run(bench.name, func(b *testing.B) {
			p := steadyPool(bench.slots, 8, bench.opt)
			defer func() { _ = p.Close(b.Context()) }()
			c := hook.Call{Hook: "echo", Args: hook.Args{JSON: json.RawMessage("1")}}
			b.ReportAllocs()
			var wg sync.WaitGroup
			var left atomic.Int64
			left.Store(int64(b.N))
			b.ResetTimer()
			for range bench.callers {
				wg.Go(func() {
					for left.Add(-1) >= 0 {
						if _, err := p.Call(b.Context(), c); err != nil {
							b.Error(err)
						}
					}
				})
			}
			wg.Wait()
		})
	}
}
