package commands

import (
	"context"
	"errors"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pyplug/pyplug/runner"
	"github.com/pyplug/pyplug/runner/bench"
	"github.com/pyplug/pyplug/runner/hook"
)

// worker makes one call after the other, as one of plain functions does.
type worker struct {
	took  time.Duration
	turn  chan struct{} // holds a token when no call runs
	hangs int           // the call of this number does not end
	calls int           // of whoever has the turn
}

func (w *worker) Call(ctx context.Context, c hook.Call) (hook.Result, error) {
	began := time.Now()
	select {
	case <-w.turn:
		defer func() { w.turn <- struct{}{} }()
	case <-ctx.Done():
		return hook.Result{}, hook.Ended(ctx, c.Hook, "", began, true)
	}
	ends := (<-chan time.Time)(nil)
	if w.calls++; w.calls != w.hangs {
		ends = time.After(w.took)
	}
	select {
	case <-ends:
		return hook.Result{}, nil
	case <-ctx.Done():
		return hook.Result{}, hook.Ended(ctx, c.Hook, "", began, true)
	}
}

// TestBenchQueue has calls wait for each other, which is no part of what one may
// take; one that does not end is found out all the same.
func TestBenchQueue(t *testing.T) {
	const jobs, took, limit = 8, 100 * time.Millisecond, 250 * time.Millisecond
	for name, c := range map[string]struct {
		hangs  int
		failed int // of the calls
		ends   time.Duration
	}{
		"all answer": {0, 0, jobs * took},
		"one hangs":  {3, jobs - 2, 2*took + limit},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &worker{took: took, hangs: c.hangs, turn: make(chan struct{}, 1)}
				w.turn <- struct{}{}
				target := &benchTarget{began: time.Now(), several: true}
				target.settings.Timeouts.Call = limit
				target.o.measure = bench.Options{Jobs: jobs}
				errs := make([]error, jobs)
				var calls sync.WaitGroup
				for i := range errs {
					calls.Go(func() { errs[i] = target.within(t.Context(), w) })
				}
				calls.Wait()
				if since := time.Since(target.began); since != c.ends {
					t.Errorf("ended after %v, want %v", since, c.ends)
				}
				failed := 0
				for _, err := range errs {
					if err == nil {
						continue
					}
					failed++
					if e := asError(err); e.Kind != hook.Timeout || e.Error() != "timed out after 250ms" {
						t.Errorf("got %v: %v", e.Kind, e)
					}
				}
				if failed != c.failed {
					t.Errorf("%d calls failed, want %d", failed, c.failed)
				}
			})
		})
	}
}

// TestBenchEnded tells a signal as what it is, in a call and between two.
func TestBenchEnded(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	plain := errors.New("not of a signal")
	if err := benchError(ctx, "f", plain); err != plain {
		t.Errorf("got %v", err)
	}
	cancel(&signalError{syscall.SIGTERM})
	if err := benchError(ctx, "f", nil); err != nil {
		t.Errorf("got %v", err)
	}
	own := &hook.Error{Kind: hook.Crash}
	if err := benchError(ctx, "f", own); err != error(own) {
		t.Errorf("got %v", err)
	}
	err := benchError(ctx, "f", context.Cause(ctx))
	if e := asError(err); e.Kind != hook.Canceled || e.Hook != "f" || e.Error() != "terminated" || exitCode(err) != 143 {
		t.Errorf("got %v: %v, exit code %d", e.Kind, err, exitCode(err))
	}
}

// TestBenchLimit has 0 stand for no limit, as elsewhere.
func TestBenchLimit(t *testing.T) {
	for typed, want := range map[string]time.Duration{"": bench.DefaultLimit, "--limit=1s": time.Second, "--limit=0": runner.Forever} {
		f := &program{}
		cmd, o := newBenchCommand(f)
		if err := setFlags(cmd.Flags, strings.Fields(typed)...); err != nil || o.measure.Limit != want {
			t.Errorf("%q: the limit is %v, %v; want %v", typed, o.measure.Limit, err, want)
		}
	}
}

// TestOneDefault holds that help tells one default of each flag.
func TestOneDefault(t *testing.T) {
	for _, cmd := range commandList(&program{}) {
		for _, f := range cmd.Flags {
			if line := f.String(); strings.Count(line, "(default:") > 1 {
				t.Errorf("%s: %s", cmd.Name, line)
			}
		}
	}
}
