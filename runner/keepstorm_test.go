package runner_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/runnertest"
)

// stormTime returns the duration of TestKeepStorm: PYPLUG_TEST_STORM, such as 1m, or 3s.
func stormTime(t *testing.T) time.Duration {
	text := os.Getenv("PYPLUG_TEST_STORM")
	if text == "" {
		return 3 * time.Second
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestKeepStorm starts, calls, crashes, restarts and stops a plugin at random, with and without
// preload. Each call gets its own answer or an error of a suitable kind, and nothing is left.
func TestKeepStorm(t *testing.T) {
	runnertest.NothingLeft(t)
	end := time.Now().Add(stormTime(t))
	cfg := file(t, busybody)
	mark := fmt.Sprint("STORM=", os.Getpid())
	cfg.Env = []string{mark}
	for round := 0; time.Now().Before(end); round++ {
		cfg.Workers, cfg.Limits.Calls, cfg.Preload = 1+round%3, 40*(round%2), []string{"off", "auto"}[round/2%2]
		cfg.Queue, cfg.Restart.Backoff, cfg.Restart.BackoffMax = 50, time.Millisecond, 10*time.Millisecond
		p, err := keeping(t, t.Context(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		storm(t, p, uint64(round))
		closed, cancel := context.WithCancel(t.Context())
		if round%4 == 3 {
			cancel() // kill at once
		}
		if err := p.Close(closed); err != nil && round%4 != 3 {
			t.Error(err)
		}
		cancel()
		if left := runnertest.WithEnv(mark); len(left) > 0 {
			t.Fatalf("round %d left the processes %v", round, left)
		}
	}
}

// fits lists the kinds of error that a call may return in a storm.
var fits = map[hook.Kind]bool{hook.Crash: true, hook.Timeout: true, hook.Canceled: true, hook.Unavailable: true}

// storm makes calls, crashes and restarts for half a second.
func storm(t *testing.T, k *kept, seed uint64) {
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	var all sync.WaitGroup
	defer all.Wait()
	for n := range 4 {
		all.Go(func() {
			chance := rand.New(rand.NewPCG(seed, uint64(n)))
			for i := 0; ctx.Err() == nil; i++ {
				own, cancel := context.WithTimeout(ctx, time.Duration(1+chance.IntN(100))*time.Millisecond)
				c := call("ok", fmt.Sprintf("[%d]", i))
				switch chance.IntN(12) {
				case 0:
					c = call("die", "")
				case 1:
					c = call("nap", "[0.2]")
				case 2:
					c = call("nap", "[0.005]")
				}
				r, err := k.Call(own, c)
				cancel()
				if err == nil && c.Hook == "ok" && string(r.Value) != fmt.Sprint(i) {
					t.Errorf("call %d got %s", i, r.Value)
				}
				if err != nil && !fits[kindOf(err)] {
					t.Errorf("%s: %v", c.Hook, err)
				}
			}
		})
	}
	all.Go(func() {
		for i := 0; ctx.Err() == nil; i++ {
			switch i % 3 {
			case 0:
				_ = k.Restart(ctx, "a storm")
			case 1:
				_, _ = k.replay(ctx, call("ok", "[1]"))
			case 2:
				_ = k.Health(ctx)
			}
			if st := k.status(); st.Workers < 1 || st.Ready > st.Workers {
				t.Errorf("got %+v", st)
			}
		}
	})
}
