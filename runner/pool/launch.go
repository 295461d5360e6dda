package pool

import (
	"context"
	"errors"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
)

// prove launches an instance and makes the calls that come before it is ready. If one
// fails, nothing of the instance is left.
func (p *Pool) prove(ctx context.Context, g *instance) error {
	inst, err := p.launcher.Launch(ctx)
	if err != nil {
		return err
	}
	g.Instance = inst
	for {
		c, more := p.nextReplay(g)
		if !more {
			return nil
		}
		if err := p.callWithin(ctx, g, c); err != nil {
			_ = inst.Stop(p.kill) // the first error is the one to report
			<-inst.Done()
			return err
		}
	}
}

// nextReplay returns the next call that an instance makes before it is ready. When
// there is none, the instance is sealed: later replays are made in it by [Pool.replay].
func (p *Pool) nextReplay(g *instance) (c hook.Call, more bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if g.replayed < len(p.replays) {
		g.replayed++
		return p.replays[g.replayed-1], true
	}
	g.sealed = true
	return c, false
}

// callWithin makes a bootstrap or shutdown call, or a replay.
func (p *Pool) callWithin(ctx context.Context, g *instance, c hook.Call) error {
	ctx, cancel := context.WithTimeout(ctx, p.opt.CallTimeout)
	defer cancel()
	_, err := p.opt.Call(ctx, g.Instance, c)
	return err
}

// stop makes the shutdown calls, stops an instance and returns when it is gone.
func (p *Pool) stop(g *instance) hook.Exit {
	p.mu.Lock()
	calls := p.opt.Shutdown
	if g.running >= g.Concurrency() || g.unresponsive {
		calls = nil
	}
	p.mu.Unlock()
	var err error
	for _, c := range calls {
		if err != nil || p.kill.Err() != nil || isClosed(g.Done()) {
			break
		}
		err = p.callWithin(p.kill, g, c)
	}
	err = errors.Join(err, g.Stop(p.kill))
	<-g.Done() // it was stopped, or died
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.isClosed() {
		p.stopErr = errors.Join(p.stopErr, err)
	}
	return g.Exit()
}

// drain waits until no call runs in an instance.
func (p *Pool) drain(g *instance) {
	p.mu.Lock()
	g.idle = make(chan struct{})
	if g.running == 0 {
		close(g.idle)
	}
	p.mu.Unlock()
	limit := time.NewTimer(p.opt.Drain)
	defer limit.Stop()
	select {
	case <-g.idle:
	case <-limit.C:
	case <-g.Done():
	case <-p.ctx.Done():
	}
}
