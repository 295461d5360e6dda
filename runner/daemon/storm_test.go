package daemon

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/runnertest"
)

// TestStorm starts, calls, stops and kills at random. Nothing hangs, every answer is right, only
// stopped or killed daemons cause failures, and nothing is left.
func TestStorm(t *testing.T) {
	dir := nothingLeft(t)
	ctx, cancel := context.WithTimeout(context.Background(), 3*runnertest.WaitTimeout)
	defer cancel()
	var work sync.WaitGroup
	for seed := range uint64(6) {
		work.Go(func() {
			r := rand.New(rand.NewPCG(seed, 7))
			for range 25 {
				randomStep(ctx, t, r)
			}
		})
	}
	work.Wait()
	if ctx.Err() != nil {
		t.Fatal("it takes too long")
	}
	if _, err := Stop(ctx, "p", StopOptions{}); err != nil {
		t.Error(err)
	}
	if _, err := List(ctx); err != nil { // removes the files of killed daemons
		t.Error(err)
	}
	for _, name := range files(t, dir) {
		if name != "p.log" {
			t.Errorf("left %s", name)
		}
	}
}

// randomStep does one random action.
func randomStep(ctx context.Context, t *testing.T, r *rand.Rand) {
	what := r.IntN(10)
	if what < 3 {
		id, err := Spawn(ctx, []string{"__daemon", "good"}, nil, func(string) {})
		if err == nil && id.Entry != "/x/p.py" {
			t.Errorf("started %+v", id)
		}
		if !Is(err, AlreadyRuns) {
			wantStopped(t, "start", err)
		}
		return
	}
	if what == 3 {
		_, err := List(ctx)
		wantStopped(t, "list", err)
		return
	}
	c, err := Open(ctx, "p")
	wantStopped(t, "open", err)
	if err != nil {
		return
	}
	switch what {
	case 4:
		_, err := Stop(ctx, "p", StopOptions{})
		wantStopped(t, "stop", err)
	case 5:
		_ = c.signal((*os.Process).Kill)
	case 6:
		_, err := c.Status(ctx)
		wantStopped(t, "status", err)
	case 7:
		short, cancel := context.WithTimeout(ctx, time.Duration(r.IntN(20))*time.Millisecond)
		defer cancel()
		if _, err := c.Call(short, hook.Call{Hook: "block"}); err == nil {
			t.Error("what blocks was answered")
		}
	default:
		got, err := c.Call(ctx, hook.Call{Hook: "echo", Args: hook.Args{JSON: []byte(`["x"]`)}})
		if err == nil && string(got.Value) != `["x"]` {
			t.Errorf("echo: %s", got.Value)
		}
		wantStopped(t, "call", err)
	}
}

// wantStopped fails the test for an error that no stop or kill can cause.
func wantStopped(t *testing.T, what string, err error) {
	e := (*hook.Error)(nil)
	switch {
	case err == nil:
	case !errors.As(err, &e) || e.Kind != hook.Unavailable:
		t.Errorf("%s: %v", what, err)
	}
}
