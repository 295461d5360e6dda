package lines

import (
	"context"
	"slices"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
)

// The delay before a call is made again. It starts with firstDelay and doubles up to longestDelay.
const (
	firstDelay   = 100 * time.Millisecond
	longestDelay = 10 * time.Second
)

// Retries says which failed calls are repeated.
type Retries struct {
	Max int         // the maximum number of repetitions of a call
	On  []hook.Kind // the kinds of error after which a call is repeated
}

// Delay returns the delay before a failed call is repeated. made is the number of times it was
// made. ok is false if the call is not repeated.
func (r Retries) Delay(made int, err *hook.Error) (delay time.Duration, ok bool) {
	return min(firstDelay<<min(made-1, 10), longestDelay), made <= r.Max && slices.Contains(r.On, err.Kind)
}

// retry queues a held task again after a delay. Meanwhile other lines are called. If the engine
// makes no more calls, retry answers the line with err.
func (e *Engine) retry(ctx context.Context, held []*task, delay time.Duration, err *hook.Error) {
	t, answered := held[0], 0
	if hook.Within(e.out.dropping, delay) {
		e.failedLast(ctx, t, err)
		answered = 1
	}
	e.out.release(held, answered)
}

// hold holds a task that will be called again. It returns nil if no more calls are made.
func (o *outbox) hold(t *task) []*task {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.dropped {
		return nil
	}
	held := []*task{t}
	o.taken = append(o.taken, held)
	return held
}

// enqueue queues a task before the tasks of later lines. mu is held.
func (o *outbox) enqueue(t *task) {
	i, _ := slices.BinarySearchFunc(o.waiting, t.line, func(w *task, line int) int { return w.line - line })
	o.waiting = slices.Insert(o.waiting, i, t)
	o.waitingSize += t.size()
}
