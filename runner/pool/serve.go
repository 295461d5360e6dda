package pool

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
)

const (
	// maxMisses is how many probes in a row an instance may miss, less one.
	maxMisses = 3

	stopRequested = "stop was requested"
	exitedInCall  = "the plugin exited during a call"
	exitedIdle    = "the plugin exited while no call was running"
)

// service is the part of a worker's life in which it has an instance that is ready.
type service struct {
	*worker
	inst *instance
	next *start // a replacement that is starting; nil if none is
	ctx  context.Context
	look *time.Timer // when the instance may be due for recycling

	probe   *time.Timer
	probed  chan error
	probing bool
	misses  int
	begun   uint64 // calls before the probe
}

// serve lets an instance take calls until it exits or is stopped. If a replacement is
// starting then, it is returned: it takes over.
func (w *worker) serve(g *instance) (ending, *start) {
	ctx, cancel := context.WithCancel(w.pool.ctx)
	defer cancel() // a probe
	s := &service{worker: w, ctx: ctx, probe: time.NewTimer(0), look: time.NewTimer(0)}
	defer s.probe.Stop()
	defer s.look.Stop()
	w.pool.mu.Lock()
	s.install(g)
	w.enter(hook.StateReady, g, "started", nil, 0)
	w.replyIfNewest()
	w.pool.mu.Unlock()
	w.pool.deliver()
	closeOnce(w.ready)
	for {
		switch {
		case isClosed(s.inst.Done()):
			return s.exited(), s.next
		case w.pool.isClosed():
			s.close()
			return ending{}, nil
		}
		if reason := s.replacementDue(); reason != "" && !s.beginReplacement(reason) {
			return ending{}, nil
		}
		select {
		case <-s.inst.Done():
		case <-w.pool.ctx.Done():
		case <-w.wake:
		case <-s.look.C:
		case <-w.retiring:
			w.retiring = nil
		case r := <-s.next.ended():
			s.replaced(r)
		case <-s.probe.C:
			s.startProbe()
		case err := <-s.probed:
			if s.probing = false; s.missed(err) {
				return s.stopUnresponsive(err), s.next
			}
		}
	}
}

// ended is where the end of a start arrives; never without a start.
func (s *start) ended() <-chan started {
	if s == nil {
		return nil
	}
	return s.result
}

// install makes an instance the one that takes calls. p.mu is held.
func (s *service) install(g *instance) {
	p := s.pool
	g.ready = time.Now()
	g.places = max(1, min(g.Concurrency(), p.opt.Concurrency))
	g.recycle = p.limits(g)
	s.inst, s.serving, s.current, s.sealed = g, g, g, nil
	s.cause, s.wanted, s.refusing = nil, false, false
	p.startError = startError{}
	s.misses, s.probing, s.probed = 0, false, make(chan error, 1)
	s.resetProbe()
	p.hand(g)
}

func (s *service) resetProbe() {
	if s.probe.Stop(); s.pool.opt.Probe > 0 {
		s.probe.Reset(s.pool.opt.Probe)
	}
}

// replacementDue returns why the instance is to be replaced now, "" if it is not. A
// replacement waits until the last one is complete.
func (s *service) replacementDue() string {
	if s.next != nil {
		if s.restartRequested() {
			s.next.cancel(errSuperseded)
		}
		return ""
	}
	if s.retiring != nil {
		return ""
	}
	if reason := s.takeRestart(); reason != "" {
		return reason
	}
	s.pool.mu.Lock()
	lost := s.inst.lost && s.wanted
	s.pool.mu.Unlock()
	if lost {
		return "it takes no more calls"
	}
	reason, again := s.pool.due(s.inst)
	if s.look.Stop(); reason == "" && again > 0 {
		s.look.Reset(again)
	}
	return reason
}

// beginReplacement starts a new instance beside the one that takes calls. Where two
// cannot live at once it stops the old one and returns false.
func (s *service) beginReplacement(reason string) bool {
	p := s.pool
	p.mu.Lock()
	s.wanted = false
	if p.oneAtATime {
		s.current, s.serving = nil, nil
		if s.restart == "" {
			s.restart = reason // which the next start is for
		}
		s.enter(hook.StateStopping, s.inst, reason, nil, 0)
		p.mu.Unlock()
		p.deliver()
		p.stop(s.inst, true)
		return false
	}
	s.next = s.newStart()
	s.replacing = true
	p.event(s.worker, 0, hook.StateStarting, s.next.inst, reason, nil, 0)
	p.mu.Unlock()
	p.deliver()
	p.launch(s.next)
	return true
}

// replaced takes the end of the start of a replacement: it swaps a new instance in and
// lets the old one drain. If the start failed, the old one stays.
func (s *service) replaced(r started) {
	p := s.pool
	s.next = nil
	if r.err != nil {
		s.keep(r)
		return
	}
	p.mu.Lock()
	old, from := s.inst, s.state
	s.replacing = false
	s.install(r.inst)
	s.state, s.reason, s.since, s.last = hook.StateReady, "started", time.Now(), r.inst
	p.event(s.worker, hook.StateStarting, hook.StateReady, r.inst, fmt.Sprintf("started, replaces generation %d", old.generation), nil, 0)
	p.event(s.worker, from, hook.StateStopping, old, fmt.Sprintf("replaced by generation %d", r.inst.generation), nil, 0)
	s.replyIfNewest()
	p.mu.Unlock()
	p.deliver()
	s.retire(old, true)
}

// keep notes a replacement that did not start.
func (s *service) keep(r started) {
	p := s.pool
	alone := p.alone(r.err)
	p.mu.Lock()
	s.replacing = false
	to, reason := hook.StateFailed, reasonOf(r.err)
	if s.restart != "" { // it was given up for that
		to, reason = hook.StateStopped, "superseded: "+s.restart
	} else {
		p.startError = startError{reason: reason, stays: true}
	}
	p.event(s.worker, hook.StateStarting, to, r.inst, reason, exitOf(r.err), 0)
	if alone != "" && !p.oneAtATime {
		p.oneAtATime = true
		if s.restart == "" {
			s.restart = "no other can run beside it"
		}
	}
	if s.restart == "" {
		s.reply(r.err)
		s.inst.recycle.notBefore = time.Now().Add(recycleAgain)
		p.failWaiting(r.err)
	}
	p.mu.Unlock()
	p.deliver()
}

// retire stops an instance that was replaced, in the background.
func (s *service) retire(old *instance, drain bool) {
	gone := make(chan struct{})
	s.worker.retiring = gone
	p := s.pool
	p.running.Go(func() { // the limit on draining and the stop ladder bound it
		defer close(gone)
		exit := p.stop(old, drain)
		p.mu.Lock()
		p.event(old.worker, hook.StateStopping, hook.StateStopped, old, "replaced", &exit, 0)
		p.mu.Unlock()
		p.deliver()
	})
}

// exited notes an exit that nobody requested.
func (s *service) exited() ending {
	p, exit := s.pool, s.inst.Exit()
	p.mu.Lock()
	inCall := s.inst.diedInCall(exit, s.probing || s.misses > 0)
	e := ending{duringCall: inCall, clean: exit.Code == 0 && exit.Signal == "", ready: time.Since(s.inst.ready)}
	reason := exitedIdle
	if inCall {
		reason = exitedInCall
	}
	s.lostInstance(&hook.Error{Kind: hook.Unavailable, Exit: &exit, Err: errors.New(reason)})
	s.handOver(hook.StateStopped, reason, &exit, e)
	p.mu.Unlock()
	p.deliver()
	return e
}

// lostInstance notes that the worker has no instance any more. p.mu is held.
func (s *service) lostInstance(cause error) {
	s.current, s.serving, s.cause, s.failed = nil, nil, cause, s.inst.stamp
	s.wanted = false
}

// handOver lets a replacement that is starting take the place of the instance, which
// can no longer wait for it. p.mu is held.
func (s *service) handOver(to hook.State, reason string, exit *hook.Exit, e ending) {
	if s.next == nil {
		return
	}
	if e.ready >= s.pool.opt.Policy.HealthyAfter {
		s.failures = 0
	}
	if !e.duringCall {
		s.failures++
	}
	s.replacing = false
	s.pool.event(s.worker, s.state, to, s.inst, reason, exit, 0)
	s.state, s.reason, s.since, s.last = hook.StateStarting, reason, time.Now(), s.next.inst
}

// close stops the instance since the pool is closed, and a replacement that starts.
func (s *service) close() {
	p := s.pool
	if next := s.next; next != nil {
		next.cancel(stoppingError(""))
		p.running.Go(func() {
			if r := <-next.result; r.err == nil {
				p.stop(r.inst, false)
			}
		})
	}
	p.mu.Lock()
	s.current, s.serving = nil, nil
	s.enter(hook.StateStopping, s.inst, stopRequested, nil, 0)
	p.mu.Unlock()
	p.deliver()
	exit := p.stop(s.inst, false)
	s.exit = &exit
}

// startProbe probes the instance, unless a call shows that it lives.
func (s *service) startProbe() {
	p, g, probed := s.pool, s.inst, s.probed
	p.mu.Lock()
	busy := g.running > 0
	s.begun = g.begun
	p.mu.Unlock()
	if busy {
		s.resetProbe()
		return
	}
	s.probing = true
	p.running.Go(func() { // ends within the limit, or with the service
		ctx, cancel := context.WithTimeout(s.ctx, p.opt.ProbeTimeout)
		defer cancel()
		probed <- g.Probe(ctx)
	})
}

// missed takes the result of a probe and reports whether the instance has missed too
// many. A result says nothing about an instance that took a call meanwhile.
func (s *service) missed(err error) bool {
	p := s.pool
	e := (*hook.Error)(nil)
	errors.As(err, &e)
	p.mu.Lock()
	busy := s.inst.running > 0 || s.inst.begun != s.begun
	switch {
	case err == nil:
		if s.misses = 0; s.state == hook.StateDegraded {
			s.enter(hook.StateReady, s.inst, "healthy again", nil, 0)
		}
	case e != nil && e.Kind == hook.Unhealthy:
		if s.misses = 0; s.state == hook.StateReady {
			s.enter(hook.StateDegraded, s.inst, reasonOf(err), nil, 0)
		}
	case busy, e != nil && e.Kind == hook.Canceled:
	default:
		s.misses++
	}
	p.mu.Unlock()
	p.deliver()
	s.resetProbe()
	return s.misses >= maxMisses
}

// stopUnresponsive stops an instance that misses its probes. What follows is what
// follows an exit while no call was running.
func (s *service) stopUnresponsive(err error) ending {
	p := s.pool
	reason := fmt.Sprintf("missed %d probes in a row", maxMisses)
	p.mu.Lock()
	e := ending{ready: time.Since(s.inst.ready)}
	cause := &hook.Error{Kind: hook.Unavailable, Err: fmt.Errorf("the plugin %s: %w", reason, err)}
	s.inst.unresponsive = true
	s.lostInstance(cause)
	s.handOver(hook.StateStopping, reason, nil, e)
	if s.next == nil {
		s.enter(hook.StateStopping, s.inst, reason, nil, 0)
	}
	p.mu.Unlock()
	p.deliver()
	if s.next != nil {
		s.retire(s.inst, false)
		return e
	}
	exit := p.stop(s.inst, false)
	own := *cause
	own.Exit = &exit
	p.mu.Lock()
	s.cause = &own
	p.mu.Unlock()
	return e
}
