package pool

import (
	"regexp"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
)

func TestRecycling(t *testing.T) {
	var memory atomic.Int64
	for name, c := range map[string]struct {
		opt    Options
		use    func(w *world)
		reason string
	}{
		"calls": {Options{MaxCalls: 4}, func(w *world) {
			for range 4 {
				w.works()
			}
		}, `^replacing the worker after [34] calls$`},
		"age": {Options{MaxAge: time.Hour}, func(*world) { sleep(time.Hour) }, `^replacing the worker after .*s$`},
		"memory": {Options{MaxMemory: 100 << 20, Memory: func(int) int64 { return memory.Load() }}, func(w *world) {
			memory.Store(80 << 20) // exactly the share, which is allowed
			w.works()
			sleep(2 * time.Second)
			memory.Store(83 << 20)
			sleep(2 * time.Second)
			memory.Store(1)
		}, `^replacing the worker: it uses 83 MB, more than 80 % of --max-memory 100 MB$`},
	} {
		t.Run(name, func(t *testing.T) {
			c.opt.Policy, c.opt.Probe = always, -1
			bubble(t, c.opt, nil, func(w *world) {
				sleep(10 * time.Minute)
				c.use(w)
				st := w.status()
				if st.Generation != 2 || st.Restarts != 0 || st.State != hook.StateReady || st.Replacements[name] != 1 || len(st.Replacements) != 1 {
					t.Errorf("got %+v", st)
				}
				if !regexp.MustCompile(c.reason).MatchString(st.LastReplacement) {
					t.Errorf("the reason is %q, want %q", st.LastReplacement, c.reason)
				}
			})
		})
	}
}

// TestLimitJitter checks that instances that start together are not all replaced together.
func TestLimitJitter(t *testing.T) {
	seen := map[int64]bool{}
	for range 100 {
		limit := (&instance{jitter: newJitter()}).limit(1000)
		if limit < 750 || limit > 1000 {
			t.Errorf("limit %d", limit)
		}
		seen[limit] = true
	}
	if len(seen) < 2 {
		t.Error("all limits are the same")
	}
}

// TestReplacementAgain checks that an instance stays if its replacement does not start, and is
// replaced a minute later.
func TestReplacementAgain(t *testing.T) {
	bubble(t, Options{Policy: always, MaxAge: 100 * time.Hour, MaxCalls: 1, Probe: -1}, nil, func(w *world) {
		w.states("1:starting 1:ready")
		w.launcher.set(func() { w.launcher.fail = failing("OSError") })
		w.works()
		w.works()
		w.states("2:starting 2:failed")
		w.launcher.set(func() { w.launcher.fail = nil })
		sleep(time.Minute)
		w.states("3:starting 3:ready 1:stopping 1:stopped")
	})
}
