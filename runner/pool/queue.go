package pool

import (
	"context"
	"fmt"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
)

// noWorker is what a wait that took too long waited for.
const noWorker = "no worker was free"

// waiter is one call that waits for a place. It is in the queue until it is granted
// an instance or an error, or leaves.
type waiter struct {
	hook    string
	granted chan struct{} // has a token once inst or err is set
	inst    *instance
	err     *hook.Error
	timer   *time.Timer // of the limit on waiting; nil until one is needed

	queued     bool
	prev, next *waiter
}

// grant ends a wait. The waiter has left the queue.
func (w *waiter) grant(g *instance, err *hook.Error) {
	w.inst, w.err = g, err
	w.granted <- struct{}{}
}

// queue is a list of waiters, the longest waiting first.
type queue struct {
	first, last *waiter
	len         int
}

// push adds a waiter at the end, or at the front.
func (q *queue) push(w *waiter, front bool) {
	w.queued = true
	q.len++
	switch {
	case q.first == nil:
		q.first, q.last = w, w
	case front:
		w.next, q.first.prev = q.first, w
		q.first = w
	default:
		w.prev, q.last.next = q.last, w
		q.last = w
	}
}

// pop removes the first waiter. The queue is not empty.
func (q *queue) pop() *waiter {
	w := q.first
	q.remove(w)
	return w
}

func (q *queue) remove(w *waiter) {
	if w.prev == nil {
		q.first = w.next
	} else {
		w.prev.next = w.next
	}
	if w.next == nil {
		q.last = w.prev
	} else {
		w.next.prev = w.prev
	}
	w.prev, w.next, w.queued = nil, nil, false
	q.len--
}

// acquire returns an instance with a place taken in it, at once or after waiting. A
// call that is retried has entered already and waits in front. It sets since, if it
// is zero, when it has to wait.
func (p *Pool) acquire(ctx context.Context, hookName string, retry bool, since *time.Time) (*instance, *hook.Error) {
	p.mu.Lock()
	if !retry {
		p.active++
	}
	switch {
	case ctx.Err() != nil:
		return nil, p.reject(hook.Ended(ctx, hookName, noWorker, time.Now(), false))
	case p.isClosed() || p.draining && !retry:
		return nil, p.reject(stoppingError(hookName))
	}
	if p.queue.len == 0 {
		if g := p.take(); g != nil {
			p.mu.Unlock()
			return g, nil
		}
	}
	if p.queue.len >= p.opt.Queue && !retry {
		return nil, p.reject(p.explain(fullError(hookName, p.queue.len)))
	}
	w := p.spare.Get().(*waiter)
	w.hook = hookName
	p.queue.push(w, retry)
	for _, one := range p.workers {
		one.want()
	}
	p.mu.Unlock()
	if since.IsZero() {
		*since = time.Now()
	}
	return p.wait(ctx, w, *since)
}

// reject lets a call leave that found no place, and releases the lock.
func (p *Pool) reject(e *hook.Error) *hook.Error {
	p.leave()
	p.mu.Unlock()
	return e
}

// wait waits for a place until ctx ends or the limit on waiting is reached.
func (p *Pool) wait(ctx context.Context, w *waiter, since time.Time) (*instance, *hook.Error) {
	defer p.reuse(w)
	var over *hook.Error
	select {
	case <-w.granted:
	case <-ctx.Done():
		over = hook.Ended(ctx, w.hook, noWorker, since, false)
	case <-w.limit(p.opt.QueueTimeout):
		over = queueTimeoutError(w.hook, p.opt.QueueTimeout)
	}
	if over != nil {
		p.mu.Lock()
		if w.queued {
			p.queue.remove(w)
			return nil, p.reject(p.explain(over))
		}
		p.mu.Unlock()
		<-w.granted // it is there
	}
	if w.err != nil {
		p.mu.Lock()
		return nil, p.reject(w.err)
	}
	if ctx.Err() != nil {
		p.mu.Lock()
		p.release(w.inst, outcome{})
		return nil, p.reject(hook.Ended(ctx, w.hook, noWorker, since, false))
	}
	return w.inst, nil
}

// limit ticks when the limit on waiting is reached; without a limit, never.
func (w *waiter) limit(d time.Duration) <-chan time.Time {
	switch {
	case d <= 0:
		return nil
	case w.timer == nil:
		w.timer = time.NewTimer(d)
	default:
		w.timer.Reset(d)
	}
	return w.timer.C
}

// reuse keeps a waiter for another wait.
func (p *Pool) reuse(w *waiter) {
	if w.timer != nil {
		w.timer.Stop()
	}
	w.inst, w.err, w.hook = nil, nil, ""
	p.spare.Put(w)
}

// failWaiting fails the calls that wait with err, unless a worker may still take
// them. p.mu is held.
func (p *Pool) failWaiting(err error) {
	for _, w := range p.workers {
		if w.hopeful() {
			return
		}
	}
	for p.queue.len > 0 {
		w := p.queue.pop()
		w.grant(nil, forCall(w.hook, err))
	}
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
