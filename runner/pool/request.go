package pool

import (
	"context"
	"fmt"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
)

// What others ask of a worker, whose goroutine answers.

// signal wakes the goroutine.
func (w *worker) signal() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// want notes that a call waits for the worker, unless one is about to take calls.
// p.mu is held.
func (w *worker) want() {
	if (w.serving == nil || w.serving.lost) && w.starting == nil && !w.wanted {
		w.wanted = true
		w.signal()
	}
}

// replace requests a restart, and waits until the new instance is ready. A request
// that comes while one is under way supersedes it.
func (w *worker) replace(ctx context.Context, reason string) error {
	reply := make(chan error, 1)
	p := w.pool
	p.mu.Lock()
	if p.isClosed() {
		p.mu.Unlock()
		return stoppingError("")
	}
	w.restart = reason
	w.replies = append(w.replies, reply)
	w.signal()
	p.mu.Unlock()
	select {
	case err := <-reply:
		return err
	case <-ctx.Done():
		return hook.Ended(ctx, "", "the new worker was not ready", false)
	}
}

// reply answers those who wait for a restart. p.mu is held.
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

// answer is the error of calls that do not wait for the next start. p.mu is held.
func (w *worker) answer() *hook.Error {
	if w.state == hook.StateBackoff {
		return retriedError(w.cause, w.whenRestarted())
	}
	return w.cause
}

// whenRestarted says when the next start is. p.mu is held.
func (w *worker) whenRestarted() string {
	const unit = 100 * time.Millisecond
	if w.state != hook.StateBackoff {
		return "the plugin is restarting"
	}
	return fmt.Sprintf("the plugin restarts in %v", max(time.Until(w.nextStart).Round(unit), unit))
}

// allGivenUp reports whether no worker runs and none restarts by itself. p.mu is held.
func (p *Pool) allGivenUp() bool {
	for _, w := range p.workers {
		if w.state != hook.StateFailed && w.state != hook.StateStopped {
			return false
		}
	}
	return true
}
