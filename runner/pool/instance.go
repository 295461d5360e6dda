package pool

import (
	"context"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
)

// afterCall is the longest time between the end of a call and the kill of its instance
// because of that call. A transport lets the other calls of the instance end first.
const afterCall = 10 * time.Second

// instance is one process of a worker. It exists from the beginning of its start.
type instance struct {
	hook.Instance // nil until it has started
	worker        *worker
	generation    int
	ctx           context.Context // the context of its start
	cancel        context.CancelCauseFunc
	version       int // the version of the plugin's files when it was started
	places        int // the maximum number of concurrent calls
	ready         time.Time
	jitter        float64 // the fraction by which its limits are lower

	// Protected by the pool's mu.
	started  bool  // its start has ended
	failed   error // why the start failed, or nil if the instance is ready
	replayed int   // how many of the pool's replays it has made
	running  int
	begun    uint64 // the number of calls that began
	calls    uint64 // the number of calls that ended
	lost     bool   // takes no more calls
	crashed  bool   // a call ended because the process exited
	diedIn   string // the hook of the last call that ended because the process exited
	overdue  string // the last call that was interrupted, and why
	// unresponsive is set if a call ended unanswered, and the instance has answered no call and no
	// probe since.
	unresponsive bool
	probed       bool  // a probe is in progress
	misses       int   // missed probes in a row
	missed       error // the error of the last missed probe
	memory       int64 // the last measured memory in bytes
	lastCall     time.Time
	notBefore    time.Time     // the earliest start of a replacement
	idle         chan struct{} // closed when no call runs, or nil if nothing waits for that
}

// take takes a place in the worker with the fewest calls. If several workers have equally few,
// it takes the first, so that idle workers stay idle. It returns nil if no place is free.
// p.mu is held.
func (p *Pool) take() *instance {
	for {
		var best *instance
		for _, w := range p.workers {
			if i := w.serving; i != nil && i.free() && (best == nil || i.running < best.running) {
				best = i
			}
		}
		if best == nil || best.enter() {
			return best
		}
	}
}

// free reports whether the instance takes another call. p.mu is held.
func (i *instance) free() bool { return !i.lost && i.running < i.places }

// enter takes a place. It fails if the process has exited. p.mu is held.
func (i *instance) enter() bool {
	if hook.IsClosed(i.Done()) {
		i.lose()
		return false
	}
	i.running++
	i.begun++
	return true
}

// lose makes the instance take no more calls. p.mu is held.
func (i *instance) lose() {
	i.lost = true
	if i.worker.serving == i {
		i.worker.want()
	}
}

// finish ends a call in a place, and releases the place.
func (p *Pool) finish(t *turn, o outcome, retry bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.end(t, o)
	if !retry {
		p.count(t.inst, o)
		p.leave()
	}
	p.release(t.inst, o)
}

// finishUncounted releases a place that was taken for a description of hooks. It does not count a
// call.
func (p *Pool) finishUncounted(i *instance, o outcome) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.leave()
	p.release(i, o)
}

// count counts a call that ended in an instance. p.mu is held.
func (p *Pool) count(i *instance, o outcome) {
	p.calls++
	i.calls++
	if o.kind != "" {
		p.failures[o.kind]++
	}
	if o.overdue != "" {
		i.overdue = o.overdue
	}
	switch {
	case o.unanswered:
		i.unresponsive = true
	case o.kind == "" || o.begun:
		i.answered()
	}
	if p.opt.MaxCalls > 0 && i.calls >= uint64(i.limit(int64(p.opt.MaxCalls))) {
		i.worker.changed.Signal()
	}
}

// answered records that the instance has answered and is responsive. p.mu is held.
func (i *instance) answered() {
	if i.unresponsive {
		i.unresponsive, i.misses = false, 0
	}
}

// leave removes a call from the active ones. p.mu is held.
func (p *Pool) leave() {
	p.active--
	p.checkDrained()
}

// release releases a place, and passes it to the longest-waiting call. p.mu is held.
func (p *Pool) release(i *instance, o outcome) {
	exited := hook.IsClosed(i.Done())
	i.crashed = i.crashed || exited || o.kind == hook.Crash
	if i.running--; i.running == 0 {
		i.lastCall = time.Now()
		if i.idle != nil {
			closeOnce(i.idle)
		}
	}
	if o.lost || exited {
		i.lose()
	}
	p.hand(i)
}

// diedInCall reports whether the instance exited because of a call. That call may have returned
// before the exit: after a timeout, the transport may kill the instance later, when its other
// calls have ended. If a probe was missed, the probe may be the reason instead. p.mu is held.
func (i *instance) diedInCall(exit hook.Exit) bool {
	if i.running > 0 || i.crashed {
		return true
	}
	return exit.Stopped && !i.probed && i.misses == 0 && !i.lastCall.IsZero() && time.Since(i.lastCall) <= afterCall
}
