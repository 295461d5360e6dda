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

// watch wakes the worker of an instance that serves when the instance exits, when its limits
// are to be checked, and when it hangs. p.mu is held.
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

// repeat does something with an instance from time to time, while the instance serves.
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

// probe probes an instance, unless it runs calls and has room for more. A busy one may have lost its
// main thread. A missed probe does not count if a call runs, or if the instance took one
// meanwhile. p.mu is held.
func (p *Pool) probe(i *instance) {
	if i.running > 0 && i.running < i.places {
		return
	}
	var err error
	begun := i.begun
	i.probed = true
	p.unlocked(func() {
		ctx, cancel := hook.WithLimit(p.ctx, p.opt.ProbeTimeout)
		defer cancel()
		err = i.Probe(ctx)
	})
	i.probed = false
	w, e := i.worker, hook.AsError(err)
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
	case i.running > 0, i.begun != begun, e.Kind == hook.Canceled:
	default:
		i.misses, i.missed = i.misses+1, e
		w.changed.Signal()
	}
}

// Health probes every ready worker, and returns the first error. If no worker is ready, the
// error is of kind Unavailable. A probe does not make a worker busy.
func (p *Pool) Health(ctx context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	ready := false
	for _, w := range p.workers {
		i := w.serving
		if i == nil || hook.IsClosed(i.Done()) {
			continue
		}
		var err error
		p.unlocked(func() { err = i.Health(ctx) })
		if err != nil {
			return err
		}
		ready = true
	}
	if !ready {
		return p.unready()
	}
	return nil
}

// unready returns why no worker is ready. p.mu is held.
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
	case state == hook.StateFailed || state == hook.StateStopped:
		return forCall("", w.cause)
	}
	return e
}
