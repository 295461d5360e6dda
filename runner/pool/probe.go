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

// probe holds the probes of the instance that serves.
type probe struct {
	timer  *time.Timer // until the next one
	ended  chan error  // receives the result of the one in progress; nil if there is none
	misses int         // in a row
	begun  uint64      // calls before the probe
}

func (w *worker) resetProbe() {
	if w.probe.timer.Stop(); w.pool.opt.Probe > 0 {
		w.probe.timer.Reset(w.pool.opt.Probe)
	}
}

// startProbe probes the instance that serves, unless a call shows that it lives.
func (w *worker) startProbe() {
	p, i := w.pool, w.serving
	if i == nil || p.opt.Probe < 0 {
		return
	}
	p.mu.Lock()
	busy := i.running > 0
	w.probe.begun = i.begun
	p.mu.Unlock()
	if busy {
		w.resetProbe()
		return
	}
	ended := make(chan error, 1)
	w.probe.ended = ended
	p.running.Go(func() { // ends within the limit, or with the pool
		ctx, cancel := hook.WithLimit(p.ctx, p.opt.ProbeTimeout)
		defer cancel()
		ended <- i.Probe(ctx)
	})
}

// probeEnded records the result of a probe. It stops an instance that missed too many. A
// missed probe does not count if the instance took a call meanwhile.
func (w *worker) probeEnded(err error) {
	w.probe.ended = nil
	p, i := w.pool, w.serving
	if i == nil {
		return
	}
	e := hook.AsError(err)
	p.mu.Lock()
	busy := i.running > 0 || i.begun != w.probe.begun
	switch {
	case e == nil:
		if w.probe.misses = 0; w.state == hook.StateDegraded {
			w.enter(hook.StateReady, i, "healthy again", nil, 0)
		}
	case e.Kind == hook.Unhealthy:
		if w.probe.misses = 0; w.state == hook.StateReady {
			w.enter(hook.StateDegraded, i, reasonOf(e), nil, 0)
		}
	case busy, e.Kind == hook.Canceled:
	default:
		w.probe.misses++
	}
	p.mu.Unlock()
	w.resetProbe()
	if w.probe.misses >= maxMisses {
		w.stopUnresponsive(err)
	}
}

// stopUnresponsive stops an instance that misses its probes. The stop counts as an exit
// while no call was running.
func (w *worker) stopUnresponsive(err error) {
	p, i := w.pool, w.serving
	e := ending{cause: causeProbe, ready: time.Since(i.ready)}
	reason := fmt.Sprintf("missed %d probes in a row", maxMisses)
	p.mu.Lock()
	i.unresponsive = true
	w.serving = nil
	w.enter(hook.StateStopping, i, reason, nil, 0)
	p.mu.Unlock()
	exit := p.stop(i)
	p.mu.Lock()
	defer p.mu.Unlock()
	w.ended(i, e, &hook.Error{Kind: hook.Unavailable, Exit: &exit, Err: fmt.Errorf("the plugin %s: %w", reason, err)})
}

// readyInstances returns the instances that are ready. Looking at one does not make it busy.
func (p *Pool) readyInstances() []*instance {
	p.mu.Lock()
	defer p.mu.Unlock()
	var ready []*instance
	for _, w := range p.workers {
		if w.serving != nil && !isClosed(w.serving.Done()) {
			ready = append(ready, w.serving)
		}
	}
	return ready
}

// Health probes every ready worker, and returns the first error. If no worker is ready, the
// error is of kind Unavailable.
func (p *Pool) Health(ctx context.Context) error {
	ready := p.readyInstances()
	for _, i := range ready {
		if err := i.Health(ctx); err != nil {
			return err
		}
	}
	if len(ready) == 0 {
		return p.unready()
	}
	return nil
}

// unready returns why no worker is ready.
func (p *Pool) unready() *hook.Error {
	p.mu.Lock()
	defer p.mu.Unlock()
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

// Recover kills the process of a worker as something outside of pyplug would during a call.
// It returns when a worker takes calls again.
func (p *Pool) Recover(ctx context.Context) error {
	i, herr := p.acquire(ctx, "", false)
	if herr != nil {
		return herr
	}
	defer func() { p.finishUncounted(i) }()
	if err := i.Crash(); err != nil {
		return hook.NewError(hook.Unavailable, err)
	}
	select {
	case <-i.Done():
	case <-ctx.Done():
		return hook.Ended(ctx, "", "the plugin did not exit", false)
	}
	next, herr := p.acquire(ctx, "", false)
	if herr != nil {
		return herr
	}
	p.finishUncounted(next)
	return nil
}
