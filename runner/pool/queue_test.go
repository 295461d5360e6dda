package pool

import (
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
)

func TestQueue(t *testing.T) {
	bubble(t, Options{Policy: always, Queue: 3}, nil, func(w *world) {
		var calls sync.WaitGroup
		var order []string
		for _, name := range []string{"sleep 10s", "sleep 1s", "sleep 2s", "sleep 3s"} {
			calls.Go(func() {
				if err := w.call(name); err != nil {
					t.Error(err)
				}
				w.mu.Lock()
				defer w.mu.Unlock()
				order = append(order, name)
			})
			synctest.Wait()
		}
		err := w.fails("ok", hook.Unavailable, "queue-full")
		if err.Error() != "the queue is full: 3 calls waiting" || len(err.Hints) != 2 {
			t.Errorf("got %+v", err)
		}
		calls.Wait()
		if got := strings.Join(order, ", "); got != "sleep 10s, sleep 1s, sleep 2s, sleep 3s" {
			t.Errorf("answered in the order %s", got)
		}
		calls.Go(func() { _ = w.call("sleep 2m") })
		synctest.Wait()
		if err := w.callWithin(time.Second, "ok"); err.Kind != hook.Timeout || err.Begun || err.Error() != "no worker was free within 1s" {
			t.Errorf("got %+v", err)
		}
		calls.Wait()
	})
}

// TestAbsent checks that a call that waited for a start in vain says why there is no worker.
func TestAbsent(t *testing.T) {
	bubble(t, Options{Policy: always}, nil, func(w *world) {
		w.launcher.last().end(hook.Exit{Code: 1})
		synctest.Wait()
		err := w.callWithin(100*time.Millisecond, "ok")
		if want := "no worker was free within 100ms: the plugin exited while no call was running; the plugin restarts in 900ms"; err.Error() != want || err.Exit == nil || len(err.Hints) != 1 {
			t.Errorf("got %+v", err)
		}
	})
}

// TestWholeLimit checks that a timeout error names the whole timeout, including the wait in the
// queue.
func TestWholeLimit(t *testing.T) {
	bubble(t, Options{Policy: always}, nil, func(w *world) {
		go func() { _ = w.call("sleep 3s") }()
		synctest.Wait()
		if err := w.callWithin(10*time.Second, "sleep 1h"); err.Kind != hook.Timeout || !strings.Contains(err.Error(), "10s") {
			t.Errorf("got %v", err)
		}
	})
}
