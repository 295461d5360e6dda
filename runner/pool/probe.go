package pool

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
)

// maxMisses is the number of missed probes in a row after which an instance is stopped.
const maxMisses = 3

// hangs reports whether the instance has missed too many probes. p.mu is held.
func (i *instance) hangs() bool { return i.misses >= maxMisses }

// watch wakes the worker of a serving instance when the instance exits, when it is time to check
// its limits, and when it hangs. p.mu is held.
func (p *Pool) watch(i *instance) {
	p.running.Go(func() { // ends with the instance, or the pool
		select {
		case <-i.Done():
			i.worker.signal()
		case <-p.ctx.Done():
		}
	})
	if p.opt.recycles() {
		p.repeat(i, lookEvery, p.look)
	}
	if p.opt.Probe > 0 {
		p.repeat(i, p.opt.Probe, p.probe)
	}
}

// repeat calls do with an instance after each pause, while the instance serves.
func (p *Pool) repeat(i *instance, pause time.Duration, do func(*instance)) {
	p.running.Go(func() { // ends with the instance, or the pool
		for serves := true; serves; {
			select {
			case <-time.After(pause):
			case <-i.Done():
				return
			case <-p.ctx.Done():
				return
			}
			p.mu.Lock()
			if serves = i.worker.serving == i; serves {
				do(i)
			}
			p.mu.Unlock()
		}
	})
}

// probe probes an instance. It skips a responsive instance that runs calls and has free places, but
// not one without free places, whose main thread may have ended. A missed probe does not count if a
// call may be the reason. p.mu is held.
func (p *Pool) probe(i *instance) {
	if i.running > 0 && i.running < i.places && !i.unresponsive {
		return
	}
	ctx, cancel := hook.WithLimit(p.ctx, p.opt.ProbeTimeout)
	defer cancel()
	i.probed = true
	e, excused := p.ask(i, func() error { return i.Probe(ctx) })
	i.probed = false
	w := i.worker
	switch {
	case w.serving != i:
	case e == nil:
		if i.misses = 0; w.state == hook.StateDegraded {
			w.enter(hook.StateReady, i, "healthy again", nil, 0)
		}
	case e.Kind == hook.Unhealthy:
		if i.misses = 0; w.state == hook.StateReady {
			w.enter(hook.StateDegraded, i, reasonOf(e), nil, 0)
		}
	case excused, e.Kind == hook.Canceled:
	default:
		i.misses, i.missed = i.misses+1, e
		w.changed.Signal()
	}
}

// ask calls probe, which asks an instance for its health. A busy instance that does not answer is
// excused, because a server with one thread answers after the call. After a call has ended
// unanswered, the instance may hang, so it is not excused, however many calls it runs. p.mu is
// held, but released during probe.
func (p *Pool) ask(i *instance, probe func() error) (e *hook.Error, excused bool) {
	begun, busy := i.begun, i.running > 0
	p.unlocked(func() { e = hook.AsError(probe()) })
	if e == nil || e.Kind == hook.Unhealthy {
		i.answered()
	}
	busy = busy || i.running > 0 || i.begun != begun
	return e, busy && !i.unresponsive
}

// Health probes every ready worker, and returns the first error. If no worker is ready, the error
// is of kind Unavailable. A probe does not make a worker busy. A busy worker that does not answer
// counts as healthy, unless one of its calls has ended unanswered.
func (p *Pool) Health(ctx context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	ready := false
	for _, w := range p.workers {
		i := w.serving
		if i == nil || hook.IsClosed(i.Done()) {
			continue
		}
		e, excused := p.ask(i, func() error { return i.Health(ctx) })
		excused = excused && e != nil && e.Unanswered && e.Kind == hook.Timeout
		if e != nil && !excused {
			return e
		}
		ready = true
	}
	if !ready {
		return p.unready()
	}
	return nil
}

// unready returns an error that says why no worker is ready. p.mu is held.
func (p *Pool) unready() *hook.Error {
	state, w := p.best().state, p.absent()
	e := &hook.Error{Kind: hook.Unavailable, Err: fmt.Errorf("the plugin is %s", state)}
	if state == hook.StateBackoff {
		e.Reason, e.Err = reasonBackoff, errors.New("the plugin is restarting, in back-off")
	}
	switch {
	case w == nil:
	case state == hook.StateBackoff || state == hook.StateStarting:
		return p.explain(e)
	case state.Ended():
		return forCall("", w.cause)
	}
	return e
}
