package pool

import (
	"context"
	"errors"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
)

// launchNext launches the instance of a start in the background, with the replays that
// it has not made. p.mu is held.
func (p *Pool) launchNext(s *start) {
	before := p.replays[s.inst.replayed:]
	s.inst.replayed = len(p.replays)
	p.running.Go(func() { s.ended <- p.launch(s.ctx, s.inst, before) }) // ends with the start
}

// launch launches an instance, unless it was, and makes the calls that come before it
// is ready. If one fails, nothing of the instance is left.
func (p *Pool) launch(ctx context.Context, g *instance, before []hook.Call) (err error) {
	if g.Instance == nil {
		g.version = p.opt.Version()
		if g.Instance, err = p.launcher.Launch(ctx); err != nil {
			return err
		}
	}
	for _, c := range before {
		if err := p.callWithin(ctx, g, c); err != nil {
			_ = g.Stop(p.kill) // the first error is the one to report
			<-g.Done()
			return err
		}
	}
	return nil
}

// callWithin makes a bootstrap or shutdown call, or a replay.
func (p *Pool) callWithin(ctx context.Context, g *instance, c hook.Call) error {
	ctx, cancel := hook.WithLimit(ctx, p.opt.CallTimeout)
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

// retire drains and stops an instance that was replaced, in the background.
func (w *worker) retire(old *instance) {
	gone := make(chan struct{})
	w.retiring = gone
	p := w.pool
	p.running.Go(func() { // the limit on draining and the stop ladder bound it
		defer close(gone)
		p.drain(old)
		exit := p.stop(old)
		p.mu.Lock()
		defer p.mu.Unlock()
		p.event(w, hook.StateStopping, hook.StateStopped, old, "replaced", &exit, 0)
	})
}

// close stops all that the worker has started.
func (w *worker) close() {
	p := w.pool
	w.cancelStart(stoppingError(""))
	var exit *hook.Exit
	if g := w.serving; g != nil {
		p.mu.Lock()
		w.serving = nil
		w.enter(hook.StateStopping, g, stopRequested, nil, 0)
		p.mu.Unlock()
		stopped := p.stop(g)
		exit = &stopped
	}
	if s := w.starting; s != nil && <-s.ended == nil {
		p.stop(s.inst)
	}
	if w.retiring != nil {
		<-w.retiring
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	w.starting, w.cause = nil, stoppingError("")
	w.reply(w.cause)
	if w.state != hook.StateStopped {
		w.enter(hook.StateStopped, w.last, stopRequested, exit, 0)
	}
}

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
