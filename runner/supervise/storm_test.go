package supervise

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
)

// gale is a script whose parts are drawn.
func gale(chance *rand.Rand) *script {
	within := func(most time.Duration) time.Duration { return time.Duration(chance.Int64N(int64(most))) }
	s := &script{}
	for range 2000 {
		p := part{takes: within(3 * time.Second), stops: within(8 * time.Second)}
		switch chance.IntN(6) {
		case 0:
			p.err = startError("no")
		case 1:
			p.err = &hook.Error{Kind: hook.Request, Err: errors.New("no such hook")}
		case 2:
			p.dies, p.exit = within(30*time.Second)+1, hook.Exit{Code: chance.IntN(2)}
		case 3:
			p.probe = missed
		case 4:
			p.probe = answers(nil, unhealthy, missed, nil, unhealthy)
		}
		s.parts = append(s.parts, p)
	}
	return s
}

// client does what a user of a slot does, until the storm is over.
func client(ctx context.Context, v *Supervisor, chance *rand.Rand) {
	pause := func(most time.Duration) {
		select {
		case <-time.After(time.Duration(chance.Int64N(int64(most)))):
		case <-ctx.Done():
		}
	}
	for ctx.Err() == nil {
		pause(3 * time.Second)
		short, cancel := context.WithTimeout(ctx, time.Duration(chance.Int64N(int64(20*time.Second))))
		switch chance.IntN(12) {
		case 0:
			_ = v.Replace(short, "limit")
		case 1:
			v.Reload()
		case 2:
			_ = v.State()
		case 3:
			v.Replay(hook.Call{Hook: "more"})
		default:
			if l, err := v.Acquire(short); err == nil {
				pause(2 * time.Second)
				if chance.IntN(8) == 0 {
					l.Instance().(*actor).die(hook.Exit{Code: 1})
				}
				l.Release(nil)
			}
		}
		cancel()
	}
}

func TestStorm(t *testing.T) {
	for seed := range uint64(30) {
		rules := Rules{Policy: Policy(seed % 3), MaxFailures: int(seed / 3 % 4), OneAtATime: seed%4 == 1}
		synctest.Test(t, func(t *testing.T) { storm(t, seed, rules) })
	}
}

// storm plays one storm of ten minutes, in which the slot is stopped at some
// time, and looks at what is left.
func storm(t *testing.T, seed uint64, rules Rules) {
	draw := func(n uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, n)) }
	s, w := gale(draw(0)), &world{t: t, chain: map[int]hook.State{}}
	var telling atomic.Bool
	v := New(Options{Launcher: s, Rules: rules, Rand: draw(1).Float64, Drain: 5 * time.Second,
		Shutdown: []hook.Call{{Hook: "bye"}}, Changed: func() bool { return true },
		Events: func(e hook.Event) {
			if telling.Swap(true) {
				t.Error("two events at once")
			}
			w.told(e, e.From)
			telling.Store(false)
		}})
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	var clients sync.WaitGroup
	for n := range uint64(8) {
		clients.Go(func() { client(ctx, v, draw(n+2)) })
	}
	time.Sleep(time.Duration(draw(99).Int64N(int64(10 * time.Minute))))
	for range 2 {
		clients.Go(func() {
			hurry, cancel := context.WithTimeout(t.Context(), 4*time.Second)
			defer cancel()
			if err := v.Stop(hurry); err != nil && !errors.Is(err, errKilled) {
				t.Errorf("seed %d: stop: %v", seed, err)
			}
			if launches, live, _ := s.count(); live != 0 {
				t.Errorf("seed %d: %d of %d are left", seed, live, launches)
			}
		})
	}
	clients.Wait()
	synctest.Wait()
	most := 2
	if rules.OneAtATime {
		most = 1
	}
	if _, _, seen := s.count(); seen > most {
		t.Errorf("seed %d: %d at once, want at most %d", seed, seen, most)
	}
	if len(v.live) != 0 || len(v.waiting) != 0 || len(v.replaced) != 0 {
		t.Errorf("seed %d: left %d generations, %d who wait, %d who asked", seed, len(v.live), len(v.waiting), len(v.replaced))
	}
}
