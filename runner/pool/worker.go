package pool

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
)

// worker is one place in the pool, kept filled by one goroutine, [worker.run].
type worker struct {
	pool   *Pool
	number int
	ready  chan struct{} // closed when it was ready first
	wake   chan struct{} // has a token when something that the goroutine acts on has changed

	// Protected by the pool's mu.
	state      hook.State
	last       *instance // which the state is about
	reason     string    // of the last transition
	since      time.Time
	generation int       // the newest
	current    *instance // takes calls; nil if none does
	serving    *instance // ready, also when it takes no more calls
	replacing  bool      // a replacement is starting
	used       uint64    // the pool's number of calls when it was last used
	wanted     bool      // a call waits, and current is nil
	restart    string    // why a restart was requested, "" if none was
	replies    []chan error
	restarts   int
	cause      error // what failed last; nil since it was ready
	nextStart  time.Time
	refusing   bool      // calls are not made to wait for the next start
	failed     string    // the stamp of what failed last
	sealed     *instance // the newest that makes no more replays by itself

	// Of the goroutine.
	failures int
	exit     *hook.Exit      // of the instance that was stopped last
	retiring <-chan struct{} // closed when the instance that was replaced is gone; nil if it is
}

// start is a start under way.
type start struct {
	inst   *instance
	ctx    context.Context
	cancel context.CancelCauseFunc
	result chan started
}

// started is how a start ended: with an instance that is ready, or an error.
type started struct {
	inst *instance
	err  error
}

var errSuperseded = errors.New("the start was superseded")

// run keeps the worker filled until the pool is closed: it serves an instance that has
// started until that exits, waits as the policy says, and starts the next.
func (w *worker) run(s started) {
	for {
		var e ending
		var next *start
		if s.err == nil {
			e, next = w.serve(s.inst)
		} else {
			e = w.startFailed(s)
		}
		if next == nil {
			next = w.rest(e)
		}
		if next == nil {
			w.leave()
			return
		}
		s = w.await(next)
	}
}

// begin starts the next generation in the background. Exit is how the one before it
// ended, if that is why.
func (w *worker) begin(reason string, exit *hook.Exit) *start {
	w.pool.mu.Lock()
	s := w.newStart()
	w.wanted, w.nextStart = false, time.Time{}
	w.enter(hook.StateStarting, s.inst, reason, exit, 0)
	w.pool.mu.Unlock()
	w.pool.deliver()
	w.pool.launch(s)
	return s
}

// newStart returns a start of the next generation. p.mu is held.
func (w *worker) newStart() *start {
	w.generation++
	s := &start{inst: &instance{worker: w, generation: w.generation}, result: make(chan started, 1)}
	s.ctx, s.cancel = context.WithCancelCause(context.Background())
	return s
}

// startFirst starts the first instance of the worker, until ctx ends.
func (w *worker) startFirst(ctx context.Context) started {
	s := w.begin("first start", nil)
	defer context.AfterFunc(ctx, func() { s.cancel(context.Cause(ctx)) })()
	return <-s.result
}

// abandon ends a worker whose first start failed, or came too late.
func (w *worker) abandon(s started) {
	if s.err == nil {
		w.pool.stop(s.inst, false)
	} else {
		w.transition(hook.StateFailed, s.inst, reasonOf(s.err), exitOf(s.err))
	}
	w.transition(hook.StateStopped, s.inst, stopRequested, nil)
}

// await waits for a start to end. A restart that is requested meanwhile supersedes it:
// what it would load is no longer the newest.
func (w *worker) await(s *start) started {
	for {
		select {
		case result := <-s.result:
			if result.err == nil || w.pool.isClosed() {
				return result
			}
			reason := w.takeRestart()
			if reason == "" {
				return result
			}
			s = w.begin(reason, nil)
		case <-w.wake:
			if w.restartRequested() {
				s.cancel(errSuperseded)
			}
		case <-w.pool.ctx.Done():
			s.cancel(stoppingError(""))
			return <-s.result
		}
	}
}

// startFailed notes a start that failed.
func (w *worker) startFailed(s started) ending {
	w.pool.mu.Lock()
	w.cause, w.failed = s.err, s.inst.stamp
	w.pool.startError = startError{reason: reasonOf(s.err)}
	w.pool.mu.Unlock()
	permanent := w.pool.opt.Permanent(s.err) || w.number > 1 && w.pool.alone(s.err) != ""
	return ending{startFailed: true, permanent: permanent}
}

// rest waits for the next start as the policy says, and begins it: after a delay, when
// somebody asks for it, or when a call waits and the plugin's files have changed. It
// returns nil when the pool is closed.
func (w *worker) rest(e ending) *start {
	if w.pool.isClosed() {
		return nil
	}
	if reason := w.takeRestart(); reason != "" {
		w.failures = 0
		return w.begin(reason, w.exitBefore(e))
	}
	do, delay, failures := w.pool.opt.Policy.next(e, w.failures, w.pool.opt.Rand())
	w.failures = failures
	if do == restartNow {
		w.countRestart()
		return w.begin(exitedInCall, w.exitBefore(e))
	}
	over := w.enterRest(do, delay, e)
	for {
		select {
		case <-over:
			w.countRestart()
			return w.begin("back-off is over", nil)
		case <-w.wake:
			if reason := w.takeRestart(); reason != "" {
				w.failures = 0
				return w.begin(reason, nil)
			}
			if w.changedFor(do) {
				w.failures = 0
				return w.begin("the plugin's files changed", nil)
			}
		case <-w.pool.ctx.Done():
			return nil
		}
	}
}

// enterRest enters the state that follows an ending, and fails the calls that would
// wait in vain. It returns when the next start is due.
func (w *worker) enterRest(do action, delay time.Duration, e ending) <-chan time.Time {
	p := w.pool
	p.mu.Lock()
	reason, exit := reasonOf(w.cause), exitOf(w.cause)
	state := hook.StateFailed
	switch {
	case do == backOff:
		state, w.nextStart = hook.StateBackoff, time.Now().Add(delay)
	case do == stayStopped:
		state = hook.StateStopped
		w.cause = &hook.Error{Kind: hook.Unavailable, Reason: reasonStopped, Exit: exit,
			Err: fmt.Errorf("the plugin exited by itself and is not restarted (restart policy %s)", p.opt.Policy.Restart)}
	case !e.permanent && p.opt.Policy.Restart != No:
		w.cause = gaveUpError(w.failures, w.cause)
	}
	w.refusing = do != backOff || e.startFailed && !p.opt.Patient
	w.enter(state, w.last, reason, exit, delay)
	w.reply(w.cause)
	if w.refusing {
		p.failWaiting(w.answer())
	}
	if p.allGivenUp() {
		closeOnce(p.failed)
	}
	p.mu.Unlock()
	p.deliver()
	if do != backOff {
		return nil
	}
	return time.After(delay)
}

// changedFor reports whether a call that waits is worth a start, because the plugin
// has changed since it failed. If not, it fails that call.
func (w *worker) changedFor(do action) bool {
	p := w.pool
	p.mu.Lock()
	wanted, failed := w.wanted, w.failed
	retry := do == giveUp || do == backOff && w.refusing
	p.mu.Unlock()
	if !wanted {
		return false
	}
	if retry && p.opt.Policy.Restart != No && p.opt.Stamp() != failed {
		return true
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	w.wanted = false
	p.failWaiting(w.answer())
	return false
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

// leave ends the worker: all that it started is gone, or goes.
func (w *worker) leave() {
	if w.retiring != nil {
		<-w.retiring
	}
	p := w.pool
	p.mu.Lock()
	w.cause = stoppingError("")
	w.reply(w.cause)
	if w.state != hook.StateStopped {
		w.enter(hook.StateStopped, w.last, stopRequested, w.exit, 0)
	}
	p.mu.Unlock()
	p.deliver()
}

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
	if w.current == nil && !w.wanted && w.state != hook.StateStarting {
		w.wanted = true
		w.signal()
	}
}

// hopeful reports whether the worker may take calls soon. p.mu is held.
func (w *worker) hopeful() bool {
	switch w.state {
	case hook.StateReady, hook.StateDegraded:
		return w.current != nil || w.replacing || w.wanted || w.restart != ""
	case hook.StateBackoff:
		return w.wanted || !w.refusing
	case hook.StateFailed, hook.StateStopped:
		return w.wanted
	}
	return true
}

// takeRestart returns why a restart was requested, and takes the request; "" if there
// is none.
func (w *worker) takeRestart() string {
	w.pool.mu.Lock()
	defer w.pool.mu.Unlock()
	reason := w.restart
	w.restart = ""
	return reason
}

// replace requests a restart, and waits until the new instance is ready. A request
// that comes while one is under way supersedes it.
func (w *worker) replace(ctx context.Context, reason string) error {
	began, reply := time.Now(), make(chan error, 1)
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
		return hook.Ended(ctx, "", "the new worker was not ready", began, false)
	}
}

// replyIfNewest answers those who wait for a restart, unless a newer one was requested.
// p.mu is held.
func (w *worker) replyIfNewest() {
	if w.restart == "" {
		w.reply(nil)
	}
}

// reply answers those who wait for a restart. p.mu is held.
func (w *worker) reply(err error) {
	for _, reply := range w.replies {
		reply <- err
	}
	w.replies = nil
}

func (w *worker) restartRequested() bool {
	w.pool.mu.Lock()
	defer w.pool.mu.Unlock()
	return w.restart != ""
}

func (w *worker) countRestart() {
	w.pool.mu.Lock()
	defer w.pool.mu.Unlock()
	w.restarts++
}

// exitBefore is how the process exited whose end the next start follows, nil if it is
// a start that failed.
func (w *worker) exitBefore(e ending) *hook.Exit {
	w.pool.mu.Lock()
	defer w.pool.mu.Unlock()
	if e.startFailed {
		return nil
	}
	return exitOf(w.cause)
}

// answer is the error of calls that do not wait for the next start. p.mu is held.
func (w *worker) answer() error {
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
