package pool

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/settings"
)

const (
	stopRequested = "stop was requested"
	startFailed   = "the start failed"
	exitedInCall  = "the plugin exited during a call"
	exitedIdle    = "the plugin exited while no call was running"
)

// maxRetiring is the maximum number of replaced instances of a worker that are still stopping. At
// that number the next replacement waits, so that replacements do not cost much more memory than
// the worker itself.
const maxRetiring = 2

// callsEnd is the time that calls get to return after their process has exited.
const callsEnd = time.Second

// worker keeps one instance alive. One goroutine, [worker.run], starts, replaces and stops its
// instances.
//
// Either an instance serves, or an instance starts, or the worker waits: for the end of a
// back-off, or for a request to start. While an instance serves, its replacement may start.
//
// The pool's mu protects all fields. Only the goroutine sets serving and starting.
type worker struct {
	pool    *Pool
	number  int
	changed sync.Cond // wakes the goroutine after a change

	serving    *instance // the ready instance, which takes calls until it is lost; or nil
	starting   *instance // the instance that starts, or nil
	retiring   int       // the number of replaced instances that are still stopping
	state      hook.State
	last       *instance // the instance that state describes
	reason     string    // the reason of the last transition
	since      time.Time
	generation int    // the generation of the newest instance
	wanted     bool   // a call waits for a start
	restart    string // why a restart was requested, or "" if it was not
	replies    []chan error
	cause      *hook.Error // the last failure, or nil after a successful start
	failed     int         // the version of the files at the last failure
	failures   int         // failures in a row
	startError string      // why the last start failed, or "" after a successful start
	refusing   bool        // calls fail instead of waiting for the next start
	nextStart  time.Time   // the end of the back-off
	ending     string      // the cause of the back-off
	limit      string      // the limit that the serving instance has reached, while its replacement starts
}

// lastEnds has the reason and the time of the last restart of a worker, and the reason of the last
// replacement at a limit.
type lastEnds struct {
	restart, replacement string
	restarted            time.Time
}

// countRestart counts a restart after an exit or a failed start. p.mu is held.
func (p *Pool) countRestart(cause, reason string, exit *hook.Exit) {
	p.restarts[cause]++
	if exit != nil {
		reason += " (" + exit.String() + ")"
	}
	p.last.restart, p.last.restarted = reason, time.Now()
}

var errSuperseded = errors.New("the start was superseded")

// run keeps an instance alive until the pool is closed, or the worker has left the pool. It holds
// the pool's mu. The methods that it calls release mu while they wait.
func (w *worker) run() {
	p := w.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	for !p.isClosed() {
		if !w.act() {
			w.changed.Wait()
		}
		if !slices.Contains(p.workers, w) {
			return
		}
	}
	w.close()
}

// act reacts to one change of the state. It returns false if there is nothing to do.
func (w *worker) act() bool {
	switch i := w.serving; {
	case i != nil && hook.IsClosed(i.Done()):
		w.exited()
	case i != nil && i.hangs():
		w.stopHung()
	case w.starting != nil && w.starting.started:
		w.startEnded()
	case w.starting != nil:
		if w.restart != "" { // the instance may load files that have changed since
			w.starting.cancel(errSuperseded)
		}
		return false
	case i != nil:
		return w.replaceIfDue()
	case w.restart != "":
		w.failures = 0
		w.begin(w.restart, nil)
	case w.wanted:
		w.startIfChanged()
	case w.state == hook.StateBackoff && !time.Now().Before(w.nextStart):
		w.pool.countRestart(w.ending, w.reason, w.cause.Exit)
		w.begin("the back-off has ended", nil)
	default:
		return false
	}
	return true
}

// begin starts the next generation. An instance that serves keeps serving meanwhile. If the exit
// of the previous generation is the reason, exit describes it.
func (w *worker) begin(reason string, exit *hook.Exit) {
	w.generation++
	i := &instance{worker: w, generation: w.generation}
	i.ctx, i.cancel = context.WithCancelCause(context.Background())
	w.starting, w.restart, w.wanted, w.nextStart = i, "", false, time.Time{}
	if w.serving == nil {
		w.enter(hook.StateStarting, i, reason, exit, 0)
	} else {
		w.pool.event(w, "", hook.StateStarting, i, reason, nil, 0)
	}
	w.pool.launchNext(i)
}

// startEnded records how a start ended. If the worker's first instance cannot live together with
// the instance of another worker, the worker leaves the pool.
func (w *worker) startEnded() {
	p, i := w.pool, w.starting
	alone, e := alone(i.failed), hook.AsError(i.failed)
	if e == nil && i.replayed < len(p.replays) { // replays were added meanwhile
		p.launchNext(i)
		return
	}
	i.cancel(nil)
	w.starting = nil
	first := i.generation == 1
	switch {
	case e == nil:
		w.install(i)
	case w.restart != "":
		p.event(w, hook.StateStarting, hook.StateStopped, i, "superseded: "+w.restart, e.Exit, 0)
	case w.serving != nil:
		w.keepServing(i, e, alone)
	case alone && first && w.number > 1:
		others := slices.DeleteFunc(slices.Clone(p.workers), func(other *worker) bool { return other == w })
		p.workers, p.opt.Workers, p.oneAtATime = others, len(others), true
		w.reply(e)
	default:
		w.cause, w.failed, w.startError = e, i.version, reasonOf(e)
		w.rest(ending{cause: causeStart, startFailed: true, permanent: first && w.number == 1 || alone && w.number > 1 || permanent(e)})
	}
}

// permanent reports whether a start that failed with e would fail again until the plugin
// changes. That includes a rejected bootstrap call, because every start makes the same call.
func permanent(e *hook.Error) bool { return e.Permanent || e.Kind == hook.Request }

// install makes an instance serve, and lets the instance before it drain.
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
	if w.limit != "" {
		p.replaced[w.limit]++
		w.limit = ""
	}
	if old != nil {
		p.event(w, from, hook.StateStopping, old, fmt.Sprintf("replaced by generation %d", i.generation), nil, 0)
		w.retire(old)
	}
	if w.restart == "" {
		w.reply(nil)
	}
	p.watch(i)
	p.hand(i)
}

// keepServing records that a replacement did not start. If alone is set, it cannot live
// together with the instance that serves.
func (w *worker) keepServing(i *instance, e *hook.Error, alone bool) {
	p := w.pool
	w.startError = reasonOf(e)
	p.event(w, hook.StateStarting, hook.StateFailed, i, w.startError, e.Exit, 0)
	if alone && !p.oneAtATime {
		p.oneAtATime, w.restart = true, "two instances cannot run at once"
		return
	}
	w.serving.notBefore, w.limit = time.Now().Add(recycleAgain), ""
	w.reply(e)
	p.failWaiting(e)
}

// replaceIfDue begins the replacement of the serving instance if one was requested or
// is due, unless too many replaced instances are still stopping. If two instances
// cannot live at once, the old one stops first.
func (w *worker) replaceIfDue() bool {
	p, old := w.pool, w.serving
	switch limit, due := p.recyclingDue(old); {
	case w.retiring == maxRetiring:
		return false
	case w.restart != "":
	case old.lost && w.wanted:
		w.restart = "it accepts no more calls"
	case due != "":
		w.restart, w.limit, p.last.replacement = due, limit, due
	default:
		return false
	}
	var exit *hook.Exit
	if p.oneAtATime {
		w.serving = nil
		w.enter(hook.StateStopping, old, w.restart, nil, 0)
		p.drain(old)
		if exit = p.stop(old); p.isClosed() {
			return true
		}
	}
	w.begin(w.restart, exit)
	return true
}

// exited records an exit that nobody requested.
func (w *worker) exited() {
	p, i, exit := w.pool, w.serving, w.serving.Exit()
	if exit.Stopped { // it was killed because of a call, which returns soon
		p.awaitIdle(i, callsEnd, nil)
	}
	e := ending{
		cause: causeExit, duringCall: i.diedInCall(exit),
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
		if name := p.lastHook(i); name != "" {
			reason += " of " + name
		}
	}
	w.ended(i, e, &hook.Error{Kind: hook.Unavailable, Exit: &exit, Err: errors.New(reason)})
}

// stopHung stops an instance that misses its probes. For the policy, the stop is an exit while no
// call was running.
func (w *worker) stopHung() {
	i, ready := w.serving, time.Since(w.serving.ready)
	reason := fmt.Sprintf("missed %d probes in a row", i.misses)
	w.serving = nil
	w.enter(hook.StateStopping, i, reason, nil, 0)
	exit := w.pool.stop(i)
	w.ended(i, ending{cause: causeProbe, ready: ready},
		&hook.Error{Kind: hook.Unavailable, Exit: exit, Err: fmt.Errorf("the plugin %s: %w", reason, i.missed)})
}

// ended records that the serving instance has exited. If a replacement is starting, the worker
// waits for it.
func (w *worker) ended(i *instance, e ending, cause *hook.Error) {
	w.serving, w.cause, w.failed, w.wanted = nil, cause, i.version, false
	if w.starting == nil {
		w.rest(e)
		return
	}
	_, _, w.failures = w.pool.opt.next(e, w.failures, 0)
	w.enter(hook.StateStopped, i, reasonOf(cause), cause.Exit, 0)
	w.state, w.last = hook.StateStarting, w.starting
}

// rest decides what follows the exit of an instance, or a failed start: it begins the next start,
// or enters the state backoff, failed or stopped.
func (w *worker) rest(e ending) {
	p := w.pool
	reason, exit := reasonOf(w.cause), w.cause.Exit
	switch {
	case p.isClosed():
		return
	case w.restart != "":
		w.failures = 0
		w.begin(w.restart, exit)
		return
	}
	do, delay, failures := p.opt.next(e, w.failures, p.opt.Rand())
	w.failures = failures
	state := hook.StateFailed
	switch {
	case do == restartNow:
		p.countRestart(e.cause, reason, exit)
		w.begin(reason, exit)
		return
	case do == backOff:
		state, w.ending, w.nextStart = hook.StateBackoff, e.cause, time.Now().Add(delay)
		time.AfterFunc(delay, w.signal)
	case do == stayStopped:
		state = hook.StateStopped
		w.cause = &hook.Error{Kind: hook.Unavailable, Reason: reasonStopped, Exit: exit,
			Err: fmt.Errorf("the plugin exited by itself and is not restarted (restart policy %s)", p.opt.Restart)}
	case !e.permanent && p.opt.Restart != settings.No:
		w.cause = gaveUpError(w.failures, w.cause)
	}
	w.refusing = do != backOff || e.startFailed && !p.opt.Patient
	w.enter(state, w.last, reason, exit, delay)
	w.reply(w.cause)
	if w.refusing {
		p.failWaiting(w.answer())
	}
	if p.best().state.Ended() {
		closeOnce(p.failed)
	}
}

// startIfChanged starts the plugin for a waiting call if the plugin's files have changed since
// the last failure. Otherwise it fails that call.
func (w *worker) startIfChanged() {
	p := w.pool
	changed := false
	p.unlocked(func() { changed = p.opt.Restart != settings.No && p.opt.Version() != w.failed })
	if changed && w.refusing && w.state != hook.StateStopped {
		w.failures = 0
		w.begin("the plugin's files changed", nil)
		return
	}
	w.wanted = false
	p.failWaiting(w.answer())
}
