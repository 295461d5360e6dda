package pool

import (
	"time"

	"github.com/pyplug/pyplug/runner/hook"
)

// afterCall is how long after its last call a transport may still kill an instance
// because of that call: it lets the other calls of the instance end first.
const afterCall = 10 * time.Second

// instance is one process of a worker: its launcher's instance and what the pool knows
// of it.
type instance struct {
	hook.Instance // nil until it has started
	worker        *worker
	generation    int
	version       int // of the plugin's files when it was started
	places        int // how many calls it takes at once
	ready         time.Time
	limits        limits

	// Protected by the pool's mu.
	replayed     int // how many of the pool's replays it has made
	running      int
	begun        uint64 // calls that were ever begun
	calls        uint64 // calls that ended
	lost         bool   // takes no more calls
	crashed      bool   // a call saw its exit
	unresponsive bool   // is asked nothing any more
	lastCall     time.Time
	idle         chan struct{} // closed when no call runs; nil until that is awaited
}

// take takes a place in the worker with the fewest calls, of several in the first, so
// that idle ones stay idle. It returns nil if no place is free. p.mu is held.
func (p *Pool) take() *instance {
	for {
		var best *instance
		for _, w := range p.workers {
			if g := w.serving; g != nil && g.free() && (best == nil || g.running < best.running) {
				best = g
			}
		}
		if best == nil || best.enter() {
			return best
		}
	}
}

// free reports whether the instance takes another call. p.mu is held.
func (g *instance) free() bool { return !g.lost && g.running < g.places }

// enter takes a place. It fails if the process has exited. p.mu is held.
func (g *instance) enter() bool {
	if isClosed(g.Done()) {
		g.lose()
		return false
	}
	g.running++
	g.begun++
	return true
}

// lose makes the instance take no more calls. p.mu is held.
func (g *instance) lose() {
	g.lost = true
	if g.worker.serving == g {
		g.worker.want()
	}
}

// finish ends a call in a place, and releases the place.
func (p *Pool) finish(g *instance, o outcome, retry bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !retry {
		p.count(g, o)
		p.leave()
	}
	p.release(g, o)
}

// finishUncounted releases a place that was not taken for a call.
func (p *Pool) finishUncounted(g *instance) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.leave()
	p.release(g, outcome{})
}

// count counts a call that ended in an instance. p.mu is held.
func (p *Pool) count(g *instance, o outcome) {
	p.calls++
	g.calls++
	if o.failed {
		p.failures++
	}
	if g.limits.calls > 0 && g.calls >= g.limits.calls {
		g.worker.signal()
	}
}

// leave lets a call go that was let in. p.mu is held.
func (p *Pool) leave() {
	p.active--
	p.checkDrained()
}

// release releases a place, and hands it to the call that waits longest. p.mu is held.
func (p *Pool) release(g *instance, o outcome) {
	exited := isClosed(g.Done())
	g.crashed = g.crashed || exited
	if g.running--; g.running == 0 {
		g.lastCall = time.Now()
		if g.idle != nil {
			closeOnce(g.idle)
		}
	}
	if o.lost || exited {
		g.lose()
	}
	p.hand(g)
}

// diedInCall reports whether the instance exited because of a call. Not every call
// sees the exit: when one timed out, the transport may kill the instance later, when
// its other calls have ended; a probe that was missed may be the reason, too. p.mu is
// held.
func (g *instance) diedInCall(exit hook.Exit, probed bool) bool {
	if g.running > 0 || g.crashed {
		return true
	}
	return exit.Stopped && !probed && !g.lastCall.IsZero() && time.Since(g.lastCall) <= afterCall
}
