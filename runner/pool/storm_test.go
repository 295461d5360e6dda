package pool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/runnertest"
	"github.com/pyplug/pyplug/runner/schema"
	"github.com/pyplug/pyplug/runner/settings"
)

// TestStorm calls, crashes, kills, restarts and cancels at random, with real threads. It checks
// that no answer goes to another call, that every call ends, and that nothing is left running.
func TestStorm(t *testing.T) {
	runnertest.NothingLeft(t)
	l := &fakeLauncher{takes: 2, start: 100 * time.Microsecond}
	p, err := Start(t.Context(), l, Options{
		Workers: 3, Concurrency: 2, Queue: 20,
		Policy:   Policy{Restart: settings.Always, Backoff: time.Millisecond, BackoffMax: 2 * time.Millisecond},
		MaxCalls: 50, MaxAge: 20 * time.Millisecond,
		Probe: 2 * time.Millisecond, ProbeTimeout: time.Millisecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	var clients sync.WaitGroup
	for client := range 16 {
		clients.Go(func() {
			for i := range 300 {
				storm(t, p, l, fmt.Sprint(client*1000+i))
			}
		})
	}
	clients.Wait()
	if err := p.Close(context.Background()); err != nil {
		t.Error(err)
	}
	st, _ := p.Status(context.Background())
	if st.Queued != 0 || st.Running != 0 || st.Calls < st.Failed || st.State != hook.StateStopped {
		t.Errorf("after the storm: %+v", st)
	}
	for _, f := range l.launched {
		if !hook.IsClosed(f.done) {
			t.Errorf("instance %d was left", f.pid)
		}
	}
}

// storm does one random action.
func storm(t *testing.T, p *Pool, l *fakeLauncher, value string) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond+rand.N(5*time.Millisecond))
	defer cancel()
	name := "ok"
	switch rand.IntN(12) {
	case 0:
		name = "crash"
	case 1:
		name = "sleep 2ms"
	case 2:
		l.last().end(hook.Exit{Code: 1})
	case 3:
		_ = p.Restart(ctx, "storm")
	case 4:
		f := l.last()
		f.mu.Lock()
		f.refuses = true
		f.mu.Unlock()
	case 5:
		_, _ = p.Status(ctx)
		_ = p.Health(ctx)
		_, _ = p.Hooks(ctx, schema.Query{})
	case 6:
		name = "fail"
	}
	r, err := p.Call(ctx, hook.Call{Hook: name, Args: hook.Args{JSON: json.RawMessage(value)}})
	if err == nil && string(r.Value) != value {
		t.Errorf("call %s got the answer %s", value, r.Value)
	}
	if e := (*hook.Error)(nil); err != nil && !errors.As(err, &e) {
		t.Errorf("call %s: %v is no *hook.Error", value, err)
	}
}
