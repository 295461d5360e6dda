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

// shouldRetry reports whether to make a failed call again.
func (e *Engine) shouldRetry(t *task, err *hook.Error) bool {
	return t.made <= e.o.Retries && slices.Contains(e.o.RetryOn, err.Kind) && !t.begun && !e.isGivenUp()
}

// retry queues a held task again after a delay. Meanwhile other lines are called. If the engine makes no
// more calls, retry answers the line with err.
func (e *Engine) retry(ctx context.Context, held []*task, err *hook.Error) {
	t, answered := held[0], 0
	if hook.Within(e.out.dropping, min(firstDelay<<min(t.made-1, 10), longestDelay)) {
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
