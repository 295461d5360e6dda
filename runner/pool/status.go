package pool

import (
	"context"
	"slices"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
)

// ranks are the states from the worst to the best.
var ranks = []hook.State{
	hook.StateStopped, hook.StateFailed, hook.StateStopping, hook.StateBackoff, hook.StateStarting, hook.StateDegraded, hook.StateReady,
}

// best returns the worker in the best state. p.mu is held.
func (p *Pool) best() *worker {
	best := p.workers[0]
	for _, w := range p.workers {
		if slices.Index(ranks, w.state) > slices.Index(ranks, best.state) {
			best = w
		}
	}
	return best
}

// Status reports how the plugin is and what it did. It does not wait, and never fails.
func (p *Pool) Status(context.Context) (hook.Status, error) {
	p.mu.Lock()
	best := p.best()
	st := hook.Status{
		State: best.state, Since: best.since, Generation: best.generation,
		Workers: len(p.workers), Concurrency: len(p.workers) * p.opt.Concurrency,
		Calls: p.calls, Failed: p.failures, Running: p.active - p.queue.Len(), Queued: p.queue.Len(),
		LastExit: p.lastExit,
	}
	var ready []*instance
	for _, w := range p.workers {
		st.Restarts += w.restarts
		switch {
		case w.serving != nil:
			ready = append(ready, w.serving)
			if w.startError != "" {
				st.Note = "a new worker does not start, so the old one stays: " + w.startError
			}
		case w.startError != "" && !best.state.Takes():
			st.Note = "it does not start: " + w.startError
		}
	}
	st.Ready = len(ready)
	switch {
	case st.State.Takes() && p.draining:
		st.State, st.Reason = hook.StateStopping, "calls are finishing"
	case st.State != hook.StateReady:
		st.Reason = best.reason
	}
	if st.State == hook.StateBackoff {
		st.NextStart = hook.Milliseconds(max(0, time.Until(best.nextStart)))
	}
	if g := best.serving; g != nil {
		st.Generation, st.PID, st.Uptime = g.generation, g.Info().PID, hook.Milliseconds(time.Since(g.Info().Started))
	}
	p.mu.Unlock()
	for _, g := range ready {
		bytes, _ := p.opt.Memory(g.Info().PID)
		st.Memory += bytes
		if st.Attach == nil {
			st.Attach = g.Attach()
		}
	}
	return st, nil
}
