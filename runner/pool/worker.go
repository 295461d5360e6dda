package pool

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
)

const (
	stopRequested = "stop was requested"
	startFailed   = "the start failed"
	exitedInCall  = "the plugin exited during a call"
	exitedIdle    = "the plugin exited while no call was running"
)

// maxRetiring is how many instances of a worker may be stopping after their replacement. The next
// replacement waits: it must not cost much more memory than the worker itself.
const maxRetiring = 2

// callsEnd is how long the calls of a process that is gone may take to return.
const callsEnd = time.Second

// worker is one place in the pool, kept filled by one goroutine, [worker.run].
//
// Either an instance serves, or one starts, or the worker rests: it waits for the end
// of a back-off, or until somebody asks for a start. While an instance serves, its
// replacement may start beside it.
type worker struct {
	pool   *Pool
	number int
	first  chan error    // receives the result of the first start
	wake   chan struct{} // has a token when something that the goroutine acts on has changed
	gone   chan struct{} // gets a token when an instance that was replaced is gone

	// Protected by the pool's mu. Once run has begun, it alone writes the first two.
	serving    *instance // is ready; it takes calls until it is lost
	starting   *start    // the next instance; nil if none starts
	state      hook.State
	last       *instance // the instance that state describes
	reason     string    // of the last transition
	since      time.Time
	generation int    // the newest
	wanted     bool   // a call waits for a start
	restart    string // why a restart was requested, "" if none was
	replies    []chan error
	cause      *hook.Error // the last failure; nil after a successful start
	failed     int         // the version of the files at the last failure
	startError string      // why the last start failed; "" after a successful start
	refusing   bool        // calls fail instead of waiting for the next start
	nextStart  time.Time

	// Of the goroutine.
	failures int              // in a row
	next     restartReason    // of the start after the back-off
	backoff  <-chan time.Time // nil unless it is in back-off
	retiring int              // instances that were replaced and are not gone
	probe    probe
}

// start is a start under way.
type start struct {
	inst   *instance
	ctx    context.Context
	cancel context.CancelCauseFunc
	ended  chan error // receives nil if the instance is ready
}

// restartReason says why a worker is started again after an exit or a failed start.
type restartReason struct{ cause, reason string }

// countRestart counts a restart. p.mu is held.
func (p *Pool) countRestart(r restartReason) {
	p.restarts[r.cause]++
	p.lastRestart = r.reason
}

var errSuperseded = errors.New("the start was superseded")

// run keeps the worker filled until the pool is closed.
func (w *worker) run() {
	p := w.pool
	w.probe.timer = time.NewTimer(0)
	defer w.probe.timer.Stop()
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	if !p.opt.recycles() {
		look.Stop()
	}
	for !p.isClosed() {
		w.act()
		var exited <-chan struct{}
		if w.serving != nil {
			exited = w.serving.Done()
		}
		var started chan error
		if w.starting != nil {
			started = w.starting.ended
		}
		select {
		case <-p.ctx.Done():
		case <-w.wake:
		case <-look.C:
		case <-exited:
		case err := <-started:
			if !w.startEnded(err) {
				return
			}
		case <-w.gone:
			w.retiring--
		case <-w.backoff:
			p.mu.Lock()
			p.countRestart(w.next)
			w.begin("the back-off has ended", nil)
			p.mu.Unlock()
		case <-w.probe.timer.C:
			w.startProbe()
		case err := <-w.probe.ended:
			w.probeEnded(err)
		}
	}
	w.close()
}

// act records an exit, and begins what was requested or is due.
func (w *worker) act() {
	if w.serving != nil && isClosed(w.serving.Done()) {
		w.exited()
	}
	w.pool.mu.Lock()
	requested, wanted := w.restart != "", w.wanted
	w.pool.mu.Unlock()
	switch {
	case w.starting != nil:
		if requested { // what it would load is no longer the newest
			w.starting.cancel(errSuperseded)
		}
	case w.serving != nil:
		w.replaceIfDue()
	case requested:
		w.pool.mu.Lock()
		w.failures = 0
		w.beginRestart(nil)
		w.pool.mu.Unlock()
	case wanted:
		w.startIfChanged()
	}
}

// begin starts the next generation, beside the instance that serves if there is one.
// exit describes the exit of the previous generation if that is the reason. p.mu is
// held.
func (w *worker) begin(reason string, exit *hook.Exit) {
	w.generation++
	s := &start{inst: &instance{worker: w, generation: w.generation}, ended: make(chan error, 1)}
	s.ctx, s.cancel = context.WithCancelCause(context.Background())
	w.starting, w.wanted, w.backoff, w.nextStart = s, false, nil, time.Time{}
	if w.serving == nil {
		w.enter(hook.StateStarting, s.inst, reason, exit, 0)
	} else {
		w.pool.event(w, "", hook.StateStarting, s.inst, reason, nil, 0)
	}
	w.pool.launchNext(s)
}

// beginRestart begins the start that was requested. p.mu is held.
func (w *worker) beginRestart(exit *hook.Exit) {
	reason := w.restart
	w.restart = ""
	w.begin(reason, exit)
}

// cancelStart cancels the start that is under way.
func (w *worker) cancelStart(cause error) {
	w.pool.mu.Lock()
	defer w.pool.mu.Unlock()
	if w.starting != nil {
		w.starting.cancel(cause)
	}
}

// startEnded records how a start ended. It returns false if the worker leaves the pool,
// since its instance cannot live beside that of the first worker.
func (w *worker) startEnded(err error) bool {
	p := w.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	i, alone, e := w.starting.inst, alone(err), hook.AsError(err)
	if err == nil && i.replayed < len(p.replays) { // a replayed call was made meanwhile
		p.launchNext(w.starting)
		return true
	}
	w.starting.cancel(nil)
	first := i.generation == 1
	if w.starting = nil; first {
		w.first <- err
	}
	switch {
	case err == nil:
		w.install(i)
	case w.restart != "":
		p.event(w, hook.StateStarting, hook.StateStopped, i, "superseded: "+w.restart, e.Exit, 0)
	case w.serving != nil:
		w.keepServing(i, e, alone)
	case alone && first && w.number == 2:
		p.workers, p.opt.Workers, p.oneAtATime = p.workers[:1], 1, true
		return false
	default:
		w.cause, w.failed, w.startError = e, i.version, reasonOf(e)
		w.rest(ending{cause: causeStart, startFailed: true, permanent: first && w.number == 1 || alone && w.number > 1 || permanent(e)})
	}
	return true
}

// permanent reports whether a start that failed with e fails again until the plugin
// changes. A bootstrap call that the plugin rejected is the same one at every start.
func permanent(e *hook.Error) bool { return e.Permanent || e.Kind == hook.Request }

// install makes an instance the one that serves, and lets the one before it drain.
// p.mu is held.
func (w *worker) install(i *instance) {
	p, old, from, reason := w.pool, w.serving, w.state, "started"
	i.ready, p.mayCollide = time.Now(), i.Info().MayCollide
	i.jitter = newJitter()
	i.places = max(1, min(i.Concurrency(), p.opt.Concurrency))
	w.serving, w.cause, w.startError, w.wanted, w.refusing = i, nil, "", false, false
	if old != nil {
		w.state, reason = hook.StateStarting, fmt.Sprintf("started, replaces generation %d", old.generation)
	}
	w.enter(hook.StateReady, i, reason, nil, 0)
	if old != nil {
		p.event(w, from, hook.StateStopping, old, fmt.Sprintf("replaced by generation %d", i.generation), nil, 0)
		w.retire(old)
	}
	if w.restart == "" {
		w.reply(nil)
	}
	w.probe.misses, w.probe.ended = 0, nil
	w.resetProbe()
	p.hand(i)
}

// keepServing records a replacement that did not start. If alone is set, it cannot live
// beside the instance that serves. p.mu is held.
func (w *worker) keepServing(i *instance, e *hook.Error, alone bool) {
	p := w.pool
	w.startError = reasonOf(e)
	p.event(w, hook.StateStarting, hook.StateFailed, i, w.startError, e.Exit, 0)
	if alone && !p.oneAtATime {
		p.oneAtATime, w.restart = true, "no second instance can run beside it"
		return
	}
	w.serving.notBefore = time.Now().Add(recycleAgain)
	w.reply(e)
	p.failWaiting(e)
}

// replaceIfDue begins the replacement of the serving instance if one was requested or
// is due, unless too many replaced instances are still stopping. If two instances
// cannot live at once, the old one stops first.
func (w *worker) replaceIfDue() {
	if w.retiring == maxRetiring {
		return
	}
	p, old := w.pool, w.serving
	due := p.recyclingDue(old)
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case w.restart != "":
	case old.lost && w.wanted:
		w.restart = "it takes no more calls"
	default:
		w.restart = due
	}
	if w.restart == "" {
		return
	}
	var exit *hook.Exit
	if p.oneAtATime {
		w.serving = nil
		w.enter(hook.StateStopping, old, w.restart, nil, 0)
		p.mu.Unlock()
		p.drain(old)
		stopped := p.stop(old)
		p.mu.Lock()
		if exit = &stopped; p.isClosed() {
			return
		}
	}
	w.beginRestart(exit)
}

// exited records an exit that nobody requested.
func (w *worker) exited() {
	p, i, exit := w.pool, w.serving, w.serving.Exit()
	if exit.Stopped { // because of a call; wait until that call has returned
		p.awaitIdle(i, callsEnd, nil)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	e := ending{
		cause: causeExit, duringCall: i.diedInCall(exit, w.probe.ended != nil || w.probe.misses > 0),
		clean: exit.Code == 0 && exit.Signal == "", ready: time.Since(i.ready),
	}
	reason := exitedIdle
	switch {
	case exit.Limit != "":
		e.cause, reason = causeMemory, "killed because of its "+exit.Limit
	case e.duringCall && exit.Stopped && i.overdue != "":
		e.cause, reason = causeTimeout, "killed because a call did not stop: "+i.overdue
	case e.duringCall:
		e.cause, reason = causeCrash, exitedInCall
	}
	w.ended(i, e, &hook.Error{Kind: hook.Unavailable, Exit: &exit, Err: errors.New(reason)})
}

// ended records that the instance that served is gone. A replacement that is starting takes
// its place. p.mu is held.
func (w *worker) ended(i *instance, e ending, cause *hook.Error) {
	w.serving, w.cause, w.failed, w.wanted = nil, cause, i.version, false
	if w.starting == nil {
		w.rest(e)
		return
	}
	_, _, w.failures = w.pool.opt.next(e, w.failures, 0)
	w.enter(hook.StateStopped, i, reasonOf(cause), cause.Exit, 0)
	w.state, w.last = hook.StateStarting, w.starting.inst
}

// rest enters the state that follows the end of an instance or a failed start, or
// begins the next start at once. p.mu is held.
func (w *worker) rest(e ending) {
	p := w.pool
	reason, exit := reasonOf(w.cause), w.cause.Exit
	switch {
	case p.isClosed():
		return
	case w.restart != "":
		w.failures = 0
		w.beginRestart(exit)
		return
	}
	do, delay, failures := p.opt.next(e, w.failures, p.opt.Rand())
	w.failures = failures
	state := hook.StateFailed
	switch {
	case do == restartNow:
		p.countRestart(restartReason{e.cause, reason})
		w.begin(reason, exit)
		return
	case do == backOff:
		state, w.backoff, w.nextStart = hook.StateBackoff, time.After(delay), time.Now().Add(delay)
		w.next = restartReason{e.cause, reason}
	case do == stayStopped:
		state = hook.StateStopped
		w.cause = &hook.Error{Kind: hook.Unavailable, Reason: reasonStopped, Exit: exit,
			Err: fmt.Errorf("the plugin exited by itself and is not restarted (restart policy %s)", p.opt.Restart)}
	case !e.permanent && p.opt.Restart != No:
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
}

// startIfChanged starts the plugin for a call that waits, because its files have
// changed since it failed. If they have not, it fails that call.
func (w *worker) startIfChanged() {
	p := w.pool
	changed := p.opt.Restart != No && p.opt.Version() != w.failed
	p.mu.Lock()
	defer p.mu.Unlock()
	if changed && w.refusing && w.state != hook.StateStopped {
		w.failures = 0
		w.begin("the plugin's files changed", nil)
		return
	}
	w.wanted = false
	p.failWaiting(w.answer())
}
