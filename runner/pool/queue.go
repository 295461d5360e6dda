package pool

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
)

// noWorker is the message of a wait that timed out.
const noWorker = "no worker was free"

// waiter is one call in the queue. It leaves the queue when it gets a place, or fails.
type waiter struct {
	hook  string
	ended chan struct{} // closed once inst or err is set
	inst  *instance     // the instance in which the call has a place
	err   *hook.Error
}

// acquire takes a place and returns its instance, at once or after waiting. If retry is set, the
// call is already active, and waits at the front of the queue.
func (p *Pool) acquire(ctx context.Context, hookName string, retry bool) (*instance, *hook.Error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !retry {
		p.active++
	}
	i, e := p.place(ctx, hookName, retry)
	if e != nil {
		p.countFailed(e)
		p.leave()
	}
	return i, e
}

// place takes a place for acquire. p.mu is held.
func (p *Pool) place(ctx context.Context, hookName string, retry bool) (*instance, *hook.Error) {
	switch {
	case ctx.Err() != nil:
		return nil, hook.Ended(ctx, hookName, noWorker, false)
	case p.isClosed() || p.draining && !retry:
		return nil, stoppingError(hookName)
	}
	if p.queue.Len() == 0 {
		if i := p.take(); i != nil {
			return i, nil
		}
	}
	if p.queue.Len() >= p.opt.Queue && !retry {
		return nil, p.explain(fullError(hookName, p.queue.Len()))
	}
	w := &waiter{hook: hookName, ended: make(chan struct{})}
	push := p.queue.PushBack
	if retry {
		push = p.queue.PushFront
	}
	waiting := push(w)
	for _, one := range p.workers {
		one.want()
	}
	var over *hook.Error
	p.unlocked(func() { over = w.wait(ctx) })
	switch {
	case !hook.IsClosed(w.ended):
		p.queue.Remove(waiting)
	case w.err != nil:
		return nil, w.err
	case over == nil:
		return w.inst, nil
	default: // the call got a place just as ctx ended
		p.release(w.inst, outcome{})
	}
	return nil, p.explain(over)
}

// wait waits until the waiter has left the queue. It returns an error if ctx is done.
func (w *waiter) wait(ctx context.Context) *hook.Error {
	select {
	case <-w.ended:
	case <-ctx.Done():
	}
	if ctx.Err() != nil {
		return hook.Ended(ctx, w.hook, noWorker, false)
	}
	return nil
}

// countFailed counts a call that no worker took. Requests without a hook do not count. p.mu
// is held.
func (p *Pool) countFailed(e *hook.Error) {
	if e.Hook != "" {
		p.calls++
		p.failures[e.Kind]++
	}
}

// hand passes the free places of an instance to waiting calls. While a call waits, no other
// instance has a free place. p.mu is held.
func (p *Pool) hand(i *instance) {
	for p.queue.Len() > 0 && i.worker.serving == i && i.free() && i.enter() {
		w := p.pop()
		w.inst = i
		close(w.ended)
	}
}

// pop removes and returns the longest-waiting call. p.mu is held.
func (p *Pool) pop() *waiter { return p.queue.Remove(p.queue.Front()).(*waiter) }

// failQueue fails the calls that wait. p.mu is held.
func (p *Pool) failQueue(e *hook.Error) {
	for p.queue.Len() > 0 {
		w := p.pop()
		w.err = forCall(w.hook, e)
		close(w.ended)
	}
}

// failWaiting fails the waiting calls with e, unless a worker may still take
// them. p.mu is held.
func (p *Pool) failWaiting(e *hook.Error) {
	if !slices.ContainsFunc(p.workers, (*worker).hopeful) {
		p.failQueue(e)
	}
}

// explain adds the reason why no worker is ready to the error of a call that got no place. p.mu is
// held.
func (p *Pool) explain(e *hook.Error) *hook.Error {
	w := p.absent()
	if w == nil || e.Kind == hook.Canceled {
		return e
	}
	own := withCause(e, w.cause)
	own.Err = fmt.Errorf("%w: %w; %s", e.Err, w.cause, w.whenRestarted())
	if e.Reason == reasonFull { // more workers would not help
		own.Hints = e.Hints[:1]
	}
	return own
}

// absent returns the failed worker that restarts next. It returns nil if a worker takes calls
// or no worker has failed. p.mu is held.
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

// Requests to a worker. Its goroutine answers them.

// signal wakes the goroutine of the worker. Callers that hold p.mu use changed.Signal instead.
func (w *worker) signal() {
	w.pool.mu.Lock()
	defer w.pool.mu.Unlock()
	w.changed.Signal()
}

// want requests a start for a call that waits, unless the worker takes calls soon. p.mu is
// held.
func (w *worker) want() {
	if (w.serving == nil || w.serving.lost) && w.starting == nil && !w.wanted {
		w.wanted = true
		w.changed.Signal()
	}
}

// replace requests a restart, and waits until the new instance is ready. A later request
// supersedes an earlier one.
func (w *worker) replace(ctx context.Context, reason string) error {
	reply := make(chan error, 1)
	p := w.pool
	p.mu.Lock()
	switch {
	case p.isClosed():
		p.mu.Unlock()
		return stoppingError("")
	case !slices.Contains(p.workers, w): // the worker has left the pool
		p.mu.Unlock()
		return nil
	}
	w.restart = reason
	w.replies = append(w.replies, reply)
	w.changed.Signal()
	p.mu.Unlock()
	select {
	case err := <-reply:
		return err
	case <-ctx.Done():
		return hook.Ended(ctx, "", "the new worker was not ready", false)
	}
}

// reply reports the result of a restart to those who wait for it. p.mu is held.
func (w *worker) reply(err error) {
	for _, reply := range w.replies {
		reply <- err
	}
	w.replies = nil
}

// hopeful reports whether the worker may take calls soon. p.mu is held.
func (w *worker) hopeful() bool {
	if w.wanted || w.restart != "" || w.starting != nil {
		return true
	}
	switch w.state {
	case hook.StateReady, hook.StateDegraded:
		return w.serving != nil && !w.serving.lost
	case hook.StateBackoff:
		return !w.refusing
	case hook.StateFailed, hook.StateStopped:
		return false
	}
	return true
}

// answer returns the error of calls that arrive while the worker refuses them. p.mu is held.
func (w *worker) answer() *hook.Error {
	if w.state == hook.StateBackoff {
		return retriedError(w.cause, w.whenRestarted())
	}
	return w.cause
}

// whenRestarted says when the next start is, such as "the plugin restarts in 900ms". p.mu is held.
func (w *worker) whenRestarted() string {
	const unit = 100 * time.Millisecond
	if w.state != hook.StateBackoff {
		return "the plugin is restarting"
	}
	return fmt.Sprintf("the plugin restarts in %v", max(time.Until(w.nextStart).Round(unit), unit))
}
