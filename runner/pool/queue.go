package pool

import (
	"context"
	"fmt"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
)

// noWorker is what a wait that took too long waited for.
const noWorker = "no worker was free"

// waiter is one call that waits for a place. It leaves the queue when it is granted
// one, or fails.
type waiter struct {
	hook  string
	ended chan struct{} // closed once one of the following is set
	inst  *instance     // has a place taken
	err   *hook.Error
}

// acquire returns an instance with a place taken in it, at once or after waiting. A
// call that is retried has entered already and waits in front.
func (p *Pool) acquire(ctx context.Context, hookName string, retry bool) (*instance, *hook.Error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !retry {
		p.active++
	}
	switch {
	case ctx.Err() != nil:
		return nil, p.reject(hook.Ended(ctx, hookName, noWorker, false))
	case p.isClosed() || p.draining && !retry:
		return nil, p.reject(stoppingError(hookName))
	}
	if p.queue.Len() == 0 {
		if g := p.take(); g != nil {
			return g, nil
		}
	}
	if p.queue.Len() >= p.opt.Queue && !retry {
		return nil, p.reject(p.explain(fullError(hookName, p.queue.Len())))
	}
	w := &waiter{hook: hookName, ended: make(chan struct{})}
	push := p.queue.PushBack
	if retry {
		push = p.queue.PushFront
	}
	place := push(w)
	for _, one := range p.workers {
		one.want()
	}
	p.mu.Unlock()
	over := p.wait(ctx, w)
	p.mu.Lock()
	switch {
	case !isClosed(w.ended):
		p.queue.Remove(place)
	case w.err != nil:
		return nil, p.reject(w.err)
	case over == nil:
		return w.inst, nil
	default: // it was granted a place as the wait ended
		p.release(w.inst, outcome{})
	}
	return nil, p.reject(p.explain(over))
}

// wait returns when the wait has ended. The error says that ctx or the limit on waiting
// ended it.
func (p *Pool) wait(ctx context.Context, w *waiter) *hook.Error {
	var limit <-chan time.Time
	if p.opt.QueueTimeout > 0 {
		limit = time.After(p.opt.QueueTimeout)
	}
	select {
	case <-w.ended:
	case <-ctx.Done():
	case <-limit:
		return queueTimeoutError(w.hook, p.opt.QueueTimeout)
	}
	if ctx.Err() != nil {
		return hook.Ended(ctx, w.hook, noWorker, false)
	}
	return nil
}

// reject lets a call leave that found no place. p.mu is held.
func (p *Pool) reject(e *hook.Error) *hook.Error {
	p.countFailed(e.Hook)
	p.leave()
	return e
}

// countFailed counts a call that no worker took; without a name it was none of a hook.
// p.mu is held.
func (p *Pool) countFailed(hookName string) {
	if hookName != "" {
		p.calls++
		p.failures++
	}
}

// hand hands the free places of an instance to calls that wait. No other instance has
// a free place, or none would wait. p.mu is held.
func (p *Pool) hand(g *instance) {
	for p.queue.Len() > 0 && g.worker.serving == g && g.free() && g.enter() {
		w := p.pop()
		w.inst = g
		close(w.ended)
	}
}

// pop removes the waiter that waits longest. p.mu is held.
func (p *Pool) pop() *waiter { return p.queue.Remove(p.queue.Front()).(*waiter) }

// failQueue fails the calls that wait. p.mu is held.
func (p *Pool) failQueue(e *hook.Error) {
	for p.queue.Len() > 0 {
		w := p.pop()
		w.err = forCall(w.hook, e)
		close(w.ended)
	}
}

// failWaiting fails the calls that wait with e, unless a worker may still take
// them. p.mu is held.
func (p *Pool) failWaiting(e *hook.Error) {
	for _, w := range p.workers {
		if w.hopeful() {
			return
		}
	}
	p.failQueue(e)
}

// explain adds to the error of a call that found no place why no worker is ready, if
// that is why. p.mu is held.
func (p *Pool) explain(e *hook.Error) *hook.Error {
	w := p.absent()
	if w == nil || e.Kind == hook.Canceled {
		return e
	}
	own := withCause(e, w.cause)
	own.Err = fmt.Errorf("%w: %w; %s", e.Err, w.cause, w.whenRestarted())
	if e.Reason == reasonFull || e.Reason == reasonQueueTimeout { // more workers would not help
		own.Hints = e.Hints[:1]
	}
	return own
}

// absent returns the worker that restarts next if none takes calls and one has
// failed; else nil. p.mu is held.
func (p *Pool) absent() *worker {
	var next *worker
	for _, w := range p.workers {
		switch {
		case w.state.Takes():
			return nil
		case w.cause != nil && (next == nil || w.nextStart.Before(next.nextStart)):
			next = w
		}
	}
	return next
}
