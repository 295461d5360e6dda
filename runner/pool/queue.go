package pool

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
)

// NoPlace is what a wait that was too long waited for, in a [*hook.LimitError].
const NoPlace = "no instance was free"

// FullError says that no more calls may wait.
type FullError struct {
	// Waiting is how many do.
	Waiting int
}

// Error says how many wait.
func (e *FullError) Error() string {
	if e.Waiting == 1 {
		return "the queue is full: 1 call waits"
	}
	return fmt.Sprintf("the queue is full: %d calls wait", e.Waiting)
}

// waiter is one call or lease that waits for a place. It is in the queue until
// it is granted one, or an error, or withdraws.
type waiter struct {
	hook    string
	granted chan struct{} // has a token once at or err is set
	at      place
	err     *hook.Error
	timer   *time.Timer // of the limit on waiting; nil until one is needed

	queued     bool
	prev, next *waiter
}

// grant ends a wait. The waiter has left the queue.
func (w *waiter) grant(at place, err *hook.Error) {
	w.at, w.err = at, err
	w.granted <- struct{}{}
}

// queue is a list of waiters, the one that waits longest first.
type queue struct {
	first, last *waiter
	len         int
}

func (q *queue) push(w *waiter) {
	w.prev, w.next, w.queued = q.last, nil, true
	if q.last == nil {
		q.first = w
	} else {
		q.last.next = w
	}
	q.last = w
	q.len++
}

func (q *queue) pushFront(w *waiter) {
	w.prev, w.next, w.queued = nil, q.first, true
	if q.first == nil {
		q.last = w
	} else {
		q.first.prev = w
	}
	q.first = w
	q.len++
}

// pop removes the first of a queue that is not empty.
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

// enqueue adds a waiter. Slots that gave up are asked again.
func (p *Pool) enqueue(hookName string, front bool) *waiter {
	w := p.spare.Get().(*waiter)
	w.hook = hookName
	if front {
		p.queue.pushFront(w)
	} else {
		p.queue.push(w)
	}
	for _, s := range p.slots {
		if s.current == nil {
			p.fill(s)
		}
	}
	return w
}

// wait waits for a place until ctx ends or the limit is reached. It notes since
// when, unless the call has waited before.
func (p *Pool) wait(ctx context.Context, w *waiter, since *time.Time) (place, *hook.Error) {
	if since.IsZero() {
		*since = time.Now()
	}
	began := *since
	var over *hook.Error
	select {
	case <-w.granted:
	case <-ctx.Done():
		over = hook.Ended(ctx, w.hook, NoPlace, began, false)
	case <-w.limit(p.opt.QueueTimeout):
		over = unavailable(w.hook, &hook.LimitError{What: NoPlace, Limit: p.opt.QueueTimeout})
	}
	if over != nil && !p.withdraw(w) {
		over = nil
		<-w.granted // it is there
	}
	at, err, name := w.at, w.err, w.hook
	p.reuse(w)
	switch {
	case over != nil:
		return place{}, over
	case err != nil:
		p.mu.Lock()
		return place{}, p.refuse(err)
	case ctx.Err() != nil:
		p.mu.Lock()
		p.release(at, verdict{})
		return place{}, p.refuse(hook.Ended(ctx, name, NoPlace, began, false))
	}
	return at, nil
}

// whole makes the limit that an error tells that of the call, waiting included:
// an instance knows only what was left of it.
func whole(ctx context.Context, err error, waited time.Time) error {
	e, ok := err.(*hook.Error)
	if waited.IsZero() || !ok || e.Kind != hook.Timeout {
		return err
	}
	limit, ok := e.Err.(*hook.LimitError)
	if _, bounded := ctx.Deadline(); !ok || !bounded {
		return err
	}
	own := *e
	own.Err = hook.Ended(ctx, e.Hook, limit.What, waited, e.Begun).Err
	return &own
}

// withdraw takes a waiter out of the queue and lets its call go; false when it
// was granted something before.
func (p *Pool) withdraw(w *waiter) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !w.queued {
		return false
	}
	p.queue.remove(w)
	p.failed++
	p.leave()
	return true
}

// limit ticks when the limit is reached, never without one.
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

// reuse keeps a waiter that nobody refers to for another wait.
func (p *Pool) reuse(w *waiter) {
	if w.timer != nil {
		w.timer.Stop()
	}
	w.at, w.err, w.hook = place{}, nil, ""
	p.spare.Put(w)
}

// gaveUp tells one who waits why a slot gave up.
func gaveUp(hookName string, err error) *hook.Error {
	var e *hook.Error
	if !errors.As(err, &e) {
		return unavailable(hookName, err)
	}
	own := *e
	own.Hook, own.Begun = hookName, false
	return &own
}
