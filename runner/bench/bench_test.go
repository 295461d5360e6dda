package bench

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// target takes as long as it says.
type target struct {
	cold, call, crash time.Duration
	calls, running    atomic.Int32
	most              atomic.Int32
	failAt            int32
	first             time.Duration // what the first call takes besides
	serial            bool          // calls wait for each other
	turn              chan struct{} // holds a token when none runs
	began             []string      // the phases
}

var errBroken = errors.New("broken")

func (t *target) Begin(_ context.Context, phase string) error {
	t.began = append(t.began, phase)
	return nil
}

func (t *target) Cold(context.Context) error  { time.Sleep(t.cold); return nil }
func (t *target) Crash(context.Context) error { time.Sleep(t.crash); return nil }

func (t *target) Call(context.Context) error {
	t.most.Store(max(t.most.Load(), t.running.Add(1)))
	defer t.running.Add(-1)
	if t.serial {
		<-t.turn
		defer func() { t.turn <- struct{}{} }()
	}
	if t.calls.Load() == 0 {
		time.Sleep(t.first)
	}
	time.Sleep(t.call)
	if t.calls.Add(1) == t.failAt {
		return errBroken
	}
	return nil
}

// measure returns the phases and the names of those that began.
func measure(ctx context.Context, t *target, o Options) (phases []Phase, began []string, err error) {
	usual := DefaultOptions()
	o.Rounds, o.Limit, o.Jobs = cmp.Or(o.Rounds, usual.Rounds), cmp.Or(o.Limit, usual.Limit), cmp.Or(o.Jobs, usual.Jobs)
	t.turn = make(chan struct{}, 1)
	t.turn <- struct{}{}
	phases, err = Measure(ctx, t, o)
	return phases, t.began, err
}

func TestMeasure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tg := &target{cold: 40 * time.Millisecond, call: time.Millisecond, crash: 10 * time.Millisecond}
		phases, began, err := measure(t.Context(), tg, Options{Rounds: 1000, Limit: time.Minute, Jobs: 8})
		if err != nil || !slices.Equal(began, Names()) || len(phases) != 4 {
			t.Fatal(phases, began, err)
		}
		want := []struct {
			rounds int
			each   time.Duration
			second float64
		}{{10, tg.cold, 25}, {1000, tg.call, 1000}, {1000, tg.call, 8000}, {10, tg.crash, 100}}
		for i, p := range phases {
			w := want[i]
			if len(p.Times) != w.rounds || p.Percentile(50) != w.each || p.PerSecond() != w.second {
				t.Errorf("%s: %d rounds, p50 %s, %v a second; want %+v", p.Name, len(p.Times), p.Percentile(50), p.PerSecond(), w)
			}
		}
		if tg.most.Load() != 8 {
			t.Errorf("%d calls at once, want 8", tg.most.Load())
		}
	})
}

func TestMeasureLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tg := &target{cold: 2 * time.Second, call: 30 * time.Millisecond, crash: time.Millisecond}
		phases, _, err := measure(t.Context(), tg, Options{Limit: time.Second, Skip: []string{Pipelined}})
		if err != nil || len(phases) != 3 {
			t.Fatal(phases, err)
		}
		for i, want := range []int{1, 30, 100} { // 120 ms are for calls that do not count
			if got := len(phases[i].Times); got != want {
				t.Errorf("%s has %d rounds, want %d", phases[i].Name, got, want)
			}
		}
	})
}

// TestMeasurePipelined makes as many calls at once as are worth it. No phase takes
// longer than its limit and the calls that run then.
func TestMeasurePipelined(t *testing.T) {
	const ms = time.Millisecond
	for name, c := range map[string]struct {
		target *target
		o      Options
		jobs   int
		rounds int // that count
		took   time.Duration
	}{
		// After the first call, 0.6 s of 3 s find out how many; then 64 take 100 ms.
		"overlapping":       {&target{call: 100 * ms}, Options{}, 64, 64 * 21, 3100 * ms},
		"overlapping, slow": {&target{call: 500 * ms}, Options{}, 1, 5, 3500 * ms},
		// 1 s of 3 s again, and those that wait at its end.
		"serial":         {&target{call: 100 * ms, serial: true}, Options{}, 4, 20 + 3, 3400 * ms},
		"serial, longer": {&target{call: 100 * ms, serial: true}, Options{Limit: 30 * time.Second}, 64, 234 + 63, 36400 * ms},
		"serial, brief":  {&target{call: 100 * ms, serial: true}, Options{Limit: time.Second}, 2, 7 + 1, 1200 * ms},
		"serial, few":    {&target{call: 100 * ms, serial: true}, Options{Limit: time.Hour, Rounds: 8}, 8, 8, 1900 * ms},
		"one":            {&target{call: 5 * time.Second}, Options{Jobs: 1}, 1, 1, 10 * time.Second},
		"slow":           {&target{call: 5 * time.Second}, Options{}, 1, 1, 15 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c.o.Skip = []string{Cold, Warm, Crash}
				began := time.Now()
				phases, _, err := measure(t.Context(), c.target, c.o)
				if took := time.Since(began); err != nil || took != c.took {
					t.Errorf("took %v, %v; want %v", took, err, c.took)
				}
				if p := phases[0]; p.Jobs != c.jobs || len(p.Times) != c.rounds {
					t.Errorf("%d at once, %d rounds, want %d and %d", p.Jobs, len(p.Times), c.jobs, c.rounds)
				}
			})
		})
	}
}

// TestMeasureLoads has the first call load something, which is no call's time.
func TestMeasureLoads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		phases, reported, err := measure(t.Context(), &target{call: time.Millisecond, first: 5 * time.Second}, Options{Skip: []string{Cold, Crash}})
		if err != nil || len(phases) != 2 {
			t.Fatal(reported, err)
		}
		if w := phases[0]; len(w.Times) != 3000 || w.Percentile(100) != time.Millisecond || phases[1].Jobs != 64 {
			t.Errorf("%d calls, the longest %v; then %d at once", len(w.Times), w.Percentile(100), phases[1].Jobs)
		}
	})
}

func TestMeasureFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		phases, began, err := measure(t.Context(), &target{call: time.Millisecond, failAt: 3}, Options{})
		if !errors.Is(err, errBroken) || len(phases) != 1 || !slices.Equal(began, []string{Cold, Warm}) {
			t.Error(phases, began, err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		_, began, err = measure(ctx, &target{call: time.Millisecond, cold: time.Millisecond}, Options{Rounds: 100})
		if !errors.Is(err, context.DeadlineExceeded) || !slices.Equal(began, []string{Cold, Warm}) {
			t.Error(began, err)
		}
	})
}

func TestPercentile(t *testing.T) {
	var p Phase
	if p.Percentile(50) != 0 || p.PerSecond() != 0 {
		t.Error("an empty phase has times")
	}
	for i := range 10 {
		p.Times = append(p.Times, time.Duration(i+1))
	}
	for percent, want := range map[float64]time.Duration{0: 1, 10: 1, 50: 5, 51: 6, 90: 9, 99: 10, 100: 10} {
		if got := p.Percentile(percent); got != want {
			t.Errorf("percentile %v is %d, want %d", percent, got, want)
		}
	}
}
