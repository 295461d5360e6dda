package pool

import (
	"context"
	"errors"

	"github.com/pyplug/pyplug/runner/hook"
)

// replay makes a call in every worker, now and after every start. Every worker gets the replays
// in the same order. replay returns the result of the first worker. If the call fails there, it is
// not replayed. If it fails in another worker, that worker is replaced. If the replacement fails,
// replay returns its error.
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
		e := hook.Ended(ctx, c.Hook, "another replayed call did not end", false)
		p.countFailed(e)
		return hook.Result{}, e
	}
	i, herr := p.acquire(ctx, c.Hook, false)
	if herr != nil {
		return hook.Result{}, herr
	}
	r, _, err := p.callIn(ctx, i, c, false)
	if err != nil {
		return r, err
	}
	c.Emit = nil // only the first caller gets the items
	p.mu.Lock()
	p.replays = append(p.replays, c)
	i.replayed = len(p.replays)
	var others []*instance
	for _, w := range p.workers {
		if other := w.serving; other != nil && other.replayed < len(p.replays) {
			other.replayed = len(p.replays)
			other.running++ // marks it busy, even if its places are taken
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

// replayIn makes a replay in an instance that was already ready. If the replay fails, it replaces
// the instance.
func (p *Pool) replayIn(ctx context.Context, i *instance, c hook.Call) error {
	err := p.makeReplay(ctx, i, c)
	p.mu.Lock()
	p.release(i, outcome{})
	current := i.worker.serving == i
	p.mu.Unlock()
	if err == nil || !current { // a replacement makes the call during its start
		return nil
	}
	return i.worker.replace(ctx, "a replayed call failed")
}

// makeReplay makes a replay within [Options].ReplayTimeout.
func (p *Pool) makeReplay(ctx context.Context, i *instance, c hook.Call) error {
	ctx, cancel := hook.WithLimit(ctx, p.opt.ReplayTimeout)
	defer cancel()
	if p.opt.Call == nil {
		_, err := i.Call(ctx, c)
		return err
	}
	_, err := p.opt.Call(ctx, i.Instance, c)
	return err
}
