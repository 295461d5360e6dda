package bench

import (
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
}

var errBroken = errors.New("broken")

func (t *target) Cold(context.Context) error  { time.Sleep(t.cold); return nil }
func (t *target) Crash(context.Context) error { time.Sleep(t.crash); return nil }

func (t *target) Call(context.Context) error {
	t.most.Store(max(t.most.Load(), t.running.Add(1)))
	defer t.running.Add(-1)
	time.Sleep(t.call)
	if t.calls.Add(1) == t.failAt {
		return errBroken
	}
	return nil
}

// measure returns the phases and the names of those that began.
func measure(ctx context.Context, t *target, o Options) (phases []Phase, began []string, err error) {
	err = Measure(ctx, t, o, func(name string) { began = append(began, name) }, func(p Phase) { phases = append(phases, p) })
	return phases, began, err
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
		for i, want := range []int{1, 34, 100} {
			if got := len(phases[i].Times); got != want {
				t.Errorf("%s has %d rounds, want %d", phases[i].Name, got, want)
			}
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
