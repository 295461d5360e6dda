package pool

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
)

// readyInstances returns the instances that are ready. Looking at one does not make it busy.
func (p *Pool) readyInstances() []*instance {
	p.mu.Lock()
	defer p.mu.Unlock()
	var ready []*instance
	for _, w := range p.workers {
		if w.serving != nil && !isClosed(w.serving.Done()) {
			ready = append(ready, w.serving)
		}
	}
	return ready
}

// healthy is an instance whose health is more than that it answers a probe.
type healthy interface {
	Health(ctx context.Context) error
}

// Health asks every worker that is ready whether it is healthy, and returns what the
// first says that is not. If none is ready, the error is of kind Unavailable.
func (p *Pool) Health(ctx context.Context) error {
	ready := p.readyInstances()
	for _, g := range ready {
		ask := g.Probe
		if h, ok := g.Instance.(healthy); ok {
			ask = h.Health
		}
		if err := ask(ctx); err != nil {
			return err
		}
	}
	if len(ready) == 0 {
		return p.unready()
	}
	return nil
}

// unready says why no worker is ready.
func (p *Pool) unready() *hook.Error {
	st, _ := p.Status(context.Background()) // it never fails
	p.mu.Lock()
	defer p.mu.Unlock()
	e := &hook.Error{Kind: hook.Unavailable, Err: fmt.Errorf("the plugin is %s", st.State)}
	w := p.absent()
	switch st.State {
	case hook.StateBackoff, hook.StateStarting:
		if st.State == hook.StateBackoff {
			e.Reason, e.Err = reasonBackoff, errors.New("the plugin is restarting, in back-off")
		}
		if w != nil {
			return p.explain(e)
		}
	case hook.StateFailed, hook.StateStopped:
		if w != nil {
			return forCall("", w.cause)
		}
	}
	return e
}

// watcher is an instance that reports changes of its health by itself.
type watcher interface {
	// WatchHealth reports each status until ctx ends or report fails; false if the
	// plugin cannot.
	WatchHealth(ctx context.Context, report func(status string) error) (bool, error)
}

// WatchHealth reports each status of a plugin that tells its health by itself, until
// ctx ends, report fails or the plugin exits. It returns false for another plugin.
func (p *Pool) WatchHealth(ctx context.Context, report func(status string) error) (bool, error) {
	for _, g := range p.readyInstances() {
		if w, ok := g.Instance.(watcher); ok {
			return w.WatchHealth(ctx, report)
		}
	}
	return false, nil
}

// Recover kills the process of a worker as something outside of pyplug would, as if
// during a call, and returns when a worker takes calls again.
func (p *Pool) Recover(ctx context.Context) error {
	began := time.Now()
	g, herr := p.acquire(ctx, "", false, new(time.Time))
	if herr != nil {
		return herr
	}
	defer func() { p.finishUncounted(g) }()
	killed, ok := g.Instance.(interface{ Crash() error })
	if !ok {
		return &hook.Error{Kind: hook.Unavailable, Err: errors.New("the plugin's process cannot be killed")}
	}
	if err := killed.Crash(); err != nil {
		return hook.NewError(hook.Unavailable, err)
	}
	select {
	case <-g.Done():
	case <-ctx.Done():
		return hook.Ended(ctx, "", "the plugin did not exit", began, false)
	}
	next, herr := p.acquire(ctx, "", false, new(time.Time))
	if herr != nil {
		return herr
	}
	p.finishUncounted(next)
	return nil
}
