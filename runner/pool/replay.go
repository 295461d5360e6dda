package pool

import (
	"context"
	"errors"

	"github.com/pyplug/pyplug/runner/hook"
)

// replay makes a call in every worker, now and after every start, in the order of the
// replays. The result is that of the first worker. If it fails there, nothing is
// replayed. Else it stands: an instance in which it fails is replaced, and the error
// says why that failed.
func (p *Pool) replay(ctx context.Context, c hook.Call) (hook.Result, error) {
	if c.Replay = false; c.Input != nil {
		return hook.Result{}, &hook.Error{Kind: hook.Request, Hook: c.Hook,
			Err: errors.New("a call with a stream of input cannot be replayed")}
	}
	select {
	case p.replaying <- struct{}{}:
		defer func() { <-p.replaying }()
	case <-ctx.Done():
		p.mu.Lock()
		defer p.mu.Unlock()
		p.countFailed(c.Hook)
		return hook.Result{}, hook.Ended(ctx, c.Hook, "another replayed call did not end", false)
	}
	g, herr := p.acquire(ctx, c.Hook, false)
	if herr != nil {
		return hook.Result{}, herr
	}
	r, _, err := p.callIn(ctx, g, c, false)
	if err != nil {
		return r, err
	}
	c.Emit = func(hook.Item) error { return nil }
	p.mu.Lock()
	p.replays = append(p.replays, c)
	g.replayed = len(p.replays)
	var others []*instance
	for _, w := range p.workers {
		if other := w.serving; other != nil && other.replayed < len(p.replays) {
			other.replayed = len(p.replays)
			other.running++ // it is busy, however many places it has
			others = append(others, other)
		}
	}
	p.mu.Unlock()
	for _, other := range others {
		if late := p.replayIn(context.WithoutCancel(ctx), other, c); err == nil {
			err = late
		}
	}
	return r, err
}

// replayIn makes a replay in an instance that was ready before, and replaces the
// instance if it fails.
func (p *Pool) replayIn(ctx context.Context, g *instance, c hook.Call) error {
	err := p.callWithin(ctx, g, c)
	p.mu.Lock()
	p.release(g, outcome{})
	current := g.worker.serving == g
	p.mu.Unlock()
	if err == nil || !current { // what replaces it makes the call
		return nil
	}
	return g.worker.replace(ctx, "a replayed call failed")
}
