package lines

import (
	"context"
	"slices"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
)

// The delay before a call is made again: the first one, which doubles up to the longest.
const (
	firstDelay   = 100 * time.Millisecond
	longestDelay = 10 * time.Second
)

// shouldRetry reports whether a call that failed is to be made again.
func (e *Engine) shouldRetry(t *task, err *hook.Error) bool {
	return t.made <= e.o.Retries && slices.Contains(e.o.RetryOn, err.Kind) && !t.begun && !e.isGivenUp()
}

// retry queues the call of a held task again after a delay. Meanwhile other lines are called. If no more
// lines are called, retry answers the line with err.
func (e *Engine) retry(ctx context.Context, held []*task, err *hook.Error) {
	t, answered := held[0], 0
	if hook.Within(e.out.dropping, min(firstDelay<<min(t.made-1, 10), longestDelay)) {
		e.failedLast(ctx, t, err)
		answered = 1
	}
	e.out.release(held, answered)
}

// hold takes a task that is to be called again. It returns nil if no more tasks are called.
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

// enqueue queues a task before those of later lines, whose answers are held until it is answered.
// Held: mu.
func (o *outbox) enqueue(t *task) {
	i, _ := slices.BinarySearchFunc(o.waiting, t.line, func(w *task, line int) int { return w.line - line })
	o.waiting = slices.Insert(o.waiting, i, t)
	o.waitingSize += t.size()
}
