package check

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
)

// again kills the plugin when it is idle and during a call, and waits each time until
// it is ready again, as healthy as at its first start.
func (c *check) again(ctx context.Context) hook.Stage {
	r, err := c.restartable(ctx)
	if err != nil {
		return hook.Stage{Findings: c.failAs(hook.Unhealthy, againFailed, err)}
	}
	defer func() { _ = r.kept.Close(c.kill) }() // the stage stop has reported how it ends
	st := hook.Stage{Details: details{}}
	idle, err := r.afterKill(ctx)
	st.Details["idle_ms"] = millis(idle)
	st.Message = "ready again " + shown(idle) + " after a kill"
	if len(c.o.Calls) == 0 {
		st.Message += "; --call names a hook to kill it in"
	} else if err == nil {
		call := c.o.Calls[0]
		var busy time.Duration
		var how string
		busy, how, err = r.afterCall(ctx, call)
		st.Details["call_ms"] = millis(busy)
		st.Message += fmt.Sprintf(", and %s after %s", shown(busy), how)
	}
	if err != nil {
		return hook.Stage{Findings: c.failAs(hook.Unhealthy, againFailed, err)}
	}
	return st
}

// lastEvent is the newest event of a plugin.
type lastEvent struct {
	mu   sync.Mutex
	last hook.Event
	came chan struct{} // holds a token while there is an event to look at
}

func (l *lastEvent) take(e hook.Event) {
	l.mu.Lock()
	l.last = e
	l.mu.Unlock()
	select {
	case l.came <- struct{}{}:
	default:
	}
}

// ready waits until a generation later than after is ready, or the plugin has failed.
func (l *lastEvent) ready(ctx context.Context, after int) (hook.Event, error) {
	for {
		l.mu.Lock()
		e := l.last
		l.mu.Unlock()
		if e.Generation > after && e.To == hook.StateReady || e.To == hook.StateFailed {
			return e, nil
		}
		select {
		case <-l.came:
		case <-ctx.Done():
			return e, ctx.Err()
		}
	}
}

// afterKill kills an idle plugin as something outside of pyplug would, and returns how
// long it takes until it is ready again.
func (r *restartable) afterKill(ctx context.Context) (time.Duration, error) {
	before, began := r.kept.Status().Generation, time.Now()
	if err := r.crash(); err != nil {
		return 0, err
	}
	return r.readyAgain(ctx, before, began)
}

// callStart is how long a call may take to reach the plugin before that is killed.
const callStart = 50 * time.Millisecond

// afterCall kills the plugin during a call, and returns how long it takes until it is
// ready again, and after what. A call that answers before the kill is followed by one;
// a call that ends the process itself needs none.
func (r *restartable) afterCall(ctx context.Context, call hook.Call) (took time.Duration, how string, err error) {
	before := r.kept.Status().Generation
	answered := make(chan error, 1)
	var calling sync.WaitGroup
	defer calling.Wait()
	calling.Go(func() { // ends with the plugin
		within, cancel := context.WithTimeout(ctx, r.callLimit)
		defer cancel()
		_, err := r.kept.Call(within, call)
		answered <- err
	})
	reached := time.NewTimer(callStart)
	defer reached.Stop()
	how = "one during " + call.Hook
	select {
	case err := <-answered:
		if asError(err).Kind == hook.Crash {
			took, err = r.readyAgain(ctx, before, time.Now())
			return took, call.Hook + " ended it", err
		}
		how = "another; " + call.Hook + " had answered before the kill"
	case <-reached.C:
	}
	began := time.Now()
	if err := r.crash(); err != nil {
		return 0, how, err
	}
	took, err = r.readyAgain(ctx, before, began)
	return took, how, err
}

// crash kills the plugin's process. That it has ended already is no error.
func (r *restartable) crash() error {
	if err := r.kept.Crash(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return &hook.Error{Kind: hook.Internal, Err: err}
	}
	return nil
}

// readyAgain waits until a later generation than before is ready, as long as a start
// may take.
func (r *restartable) readyAgain(ctx context.Context, before int, began time.Time) (time.Duration, error) {
	within, cancel := context.WithTimeout(ctx, r.startLimit)
	defer cancel()
	e, err := r.events.ready(within, before)
	took := time.Since(began)
	switch {
	case ctx.Err() != nil:
		err = &hook.Error{Kind: hook.Canceled, Err: context.Cause(ctx)}
	case err != nil:
		err = &hook.Error{Kind: hook.Unhealthy, Err: fmt.Errorf("not ready again after %s", shown(took))}
	case e.To == hook.StateFailed:
		err = r.startError(ctx)
	}
	return took, err
}

// startError is the error of the start after which the plugin was given up.
func (r *restartable) startError(ctx context.Context) error {
	_, err := r.kept.Describe(ctx)
	last := (*hook.Error)(nil)
	if e := asError(err); errors.As(e.Err, &last) { // giving up is not what the check found
		return last
	}
	return err
}
