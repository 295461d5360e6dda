package pool

import (
	"context"
	"errors"
	"fmt"

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

// Health asks every worker that is ready whether it is healthy, and returns what the
// first says that is not. If none is ready, the error is of kind Unavailable.
func (p *Pool) Health(ctx context.Context) error {
	ready := p.readyInstances()
	for _, g := range ready {
		if err := g.Health(ctx); err != nil {
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
	p.mu.Lock()
	defer p.mu.Unlock()
	state, w := p.best().state, p.absent()
	e := &hook.Error{Kind: hook.Unavailable, Err: fmt.Errorf("the plugin is %s", state)}
	if state == hook.StateBackoff {
		e.Reason, e.Err = reasonBackoff, errors.New("the plugin is restarting, in back-off")
	}
	switch {
	case w == nil:
	case state == hook.StateBackoff || state == hook.StateStarting:
		return p.explain(e)
	case state == hook.StateFailed || state == hook.StateStopped:
		return forCall("", w.cause)
	}
	return e
}

// WatchHealth reports each status of a plugin that reports its health by itself, until
// ctx ends, report fails or the plugin exits. For another plugin it returns nil at once.
func (p *Pool) WatchHealth(ctx context.Context, report func(status string) error) error {
	for _, g := range p.readyInstances() {
		return g.WatchHealth(ctx, report) // all of them run the same plugin
	}
	return nil
}

// Recover kills the process of a worker as something outside of pyplug would, as if
// during a call, and returns when a worker takes calls again.
func (p *Pool) Recover(ctx context.Context) error {
	g, herr := p.acquire(ctx, "", false)
	if herr != nil {
		return herr
	}
	defer func() { p.finishUncounted(g) }()
	if err := g.Crash(); err != nil {
		return hook.NewError(hook.Unavailable, err)
	}
	select {
	case <-g.Done():
	case <-ctx.Done():
		return hook.Ended(ctx, "", "the plugin did not exit", false)
	}
	next, herr := p.acquire(ctx, "", false)
	if herr != nil {
		return herr
	}
	p.finishUncounted(next)
	return nil
}
