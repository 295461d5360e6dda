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

// retry queues a call again after a delay. Meanwhile other lines are called. If no more lines are
// called, retry answers the line with err.
func (e *Engine) retry(ctx context.Context, t *task, err *hook.Error) {
	select {
	case <-time.After(min(firstDelay<<min(t.made-1, 10), longestDelay)):
	case <-e.out.dropping:
	}
	if !e.out.again(t) {
		e.failedLast(ctx, t, err)
		e.out.endDelay(t)
	}
}

// delay keeps a task that is to be called again. It returns false if no more tasks are called.
func (o *outbox) delay(t *task) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.dropped {
		o.delayed = append(o.delayed, t)
	}
	return !o.dropped
}

// again queues a delayed task. It returns false if no more tasks are called.
func (o *outbox) again(t *task) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.dropped {
		return false
	}
	o.enqueue(t)
	o.removeDelayed(t)
	return true
}

// endDelay ends the delay of a task that is answered.
func (o *outbox) endDelay(t *task) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.removeDelayed(t)
}

// removeDelayed removes a delayed task. Held: mu.
func (o *outbox) removeDelayed(t *task) {
	o.delayed = slices.DeleteFunc(o.delayed, func(other *task) bool { return other == t })
	o.changed.Broadcast()
}

// enqueue queues a task before those of later lines, whose answers are held until it is answered.
// Held: mu.
func (o *outbox) enqueue(t *task) {
	i, _ := slices.BinarySearchFunc(o.waiting, t.line, func(w *task, line int) int { return w.line - line })
	o.waiting = slices.Insert(o.waiting, i, t)
	o.waitingSize += t.size()
}
