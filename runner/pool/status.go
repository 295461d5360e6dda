package pool

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
)

// startError is the last start that failed; the zero value once one succeeds.
type startError struct {
	reason string
	stays  bool // another instance kept its place
}

// ranks are the states from the worst to the best, for several workers.
var ranks = []hook.State{
	0, hook.StateStopped, hook.StateFailed, hook.StateStopping, hook.StateBackoff,
	hook.StateStarting, hook.StateDegraded, hook.StateReady,
}

// Status reports how the plugin is and what it did. It does not wait, and never fails.
func (p *Pool) Status(context.Context) (hook.Status, error) {
	p.mu.Lock()
	st := hook.Status{
		Workers: len(p.workers), Calls: p.stats.calls, Failed: p.stats.failed,
		Running: p.active - p.queue.len, Queued: p.queue.len,
		LastExit: p.lastExit, Concurrency: len(p.workers) * p.opt.Concurrency,
	}
	var best *worker
	var ready []*instance
	for _, w := range p.workers {
		st.Restarts += w.restarts
		if g := w.serving; g != nil {
			ready = append(ready, g)
			st.Ready++
		}
		if best == nil || slices.Index(ranks, w.state) > slices.Index(ranks, best.state) {
			best = w
		}
	}
	st.State, st.Since, st.Generation = best.state, best.since, best.generation
	if best.last != nil {
		st.Generation = best.last.generation
	}
	switch {
	case st.State.Takes() && p.draining:
		st.State, st.Reason = hook.StateStopping, "calls are finishing"
	case st.State != hook.StateReady:
		st.Reason = best.reason
	}
	if st.State == hook.StateBackoff {
		st.NextStart = max(0, time.Until(best.nextStart))
	}
	if g := best.serving; g != nil {
		st.Generation, st.PID, st.Uptime = g.generation, g.Info().PID, time.Since(g.Info().Started)
	}
	st.Note = p.startError.note(st.Ready)
	p.mu.Unlock()
	for _, g := range ready {
		bytes, _ := p.opt.Memory(g.Info().PID)
		st.Memory += bytes
		if a, ok := g.Instance.(attacher); ok && st.Attach == nil {
			st.Attach = a.Attach()
		}
	}
	return st, nil
}

// attacher is an instance to which other programs can attach.
type attacher interface {
	// Attach says how, as JSON; nil if they cannot.
	Attach() json.RawMessage
}

// note is the note of a status with so many workers ready.
func (e startError) note(ready int) string {
	switch {
	case e.reason == "":
		return ""
	case ready == 0:
		return "it does not start: " + e.reason
	case e.stays:
		return "a new worker does not start, so the old one stays: " + e.reason
	}
	return "" // the state of the others says enough
}
