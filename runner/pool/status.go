package pool

import (
	"context"
	"errors"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

// ranks lists the states from the worst to the best.
var ranks = []hook.State{
	hook.StateStopped, hook.StateFailed, hook.StateStopping, hook.StateBackoff, hook.StateStarting, hook.StateDegraded, hook.StateReady,
}

// best returns the worker in the best state. p.mu is held.
func (p *Pool) best() *worker {
	return slices.MaxFunc(p.workers, func(a, b *worker) int {
		return slices.Index(ranks, a.state) - slices.Index(ranks, b.state)
	})
}

// Status returns the state of the plugin and its counters. It does not wait and does not fail.
func (p *Pool) Status(context.Context) (hook.Status, error) {
	p.mu.Lock()
	best := p.best()
	st := hook.Status{
		State: best.state, Since: best.since, Generation: best.generation,
		Workers: len(p.workers), Concurrency: len(p.workers) * p.opt.Concurrency,
		Calls: p.calls, Failures: maps.Clone(p.failures), Running: p.active - p.queue.Len(), Queued: p.queue.Len(),
		LastExit: p.lastExit, RestartCauses: maps.Clone(p.restarts), LastRestart: p.last.restart, LastRestartAt: p.last.restarted,
		Replacements: maps.Clone(p.replaced), LastReplacement: p.last.replacement, RunningCalls: p.runningCalls(),
	}
	for _, n := range p.failures {
		st.Failed += n
	}
	for _, n := range p.restarts {
		st.Restarts += n
	}
	var ready []*instance
	for _, w := range p.workers {
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
		st.State, st.Reason, st.Note = hook.StateStopping, "calls are finishing", ""
	case st.State != hook.StateReady:
		st.Reason = best.reason
	}
	if st.State == hook.StateBackoff {
		st.NextStart = hook.Milliseconds(max(0, time.Until(best.nextStart)))
	}
	if i := best.serving; i != nil {
		st.Generation, st.PID, st.Uptime = i.generation, i.Info().PID, hook.Milliseconds(time.Since(i.Info().Started))
	}
	p.mu.Unlock()
	for _, i := range ready {
		if st.Attach == nil {
			st.Attach = i.Attach()
		}
	}
	return st, nil
}

// eventBuffer is the number of events that a consumer of [Pool.Events] may fall behind.
const eventBuffer = 1024

// enter changes the worker's state. p.mu is held.
func (w *worker) enter(to hook.State, of *instance, reason string, exit *hook.Exit, delay time.Duration) {
	from := w.state
	w.state, w.reason, w.since, w.last = to, reason, time.Now(), of
	w.pool.event(w, from, to, of, reason, exit, delay)
}

// event reports a transition of an instance to all receivers. p.mu is held, so that all receive
// events in the same order.
func (p *Pool) event(w *worker, from, to hook.State, of *instance, reason string, exit *hook.Exit, delay time.Duration) {
	e := hook.Event{Time: time.Now(), Generation: of.generation, From: from, To: to, Reason: reason, Exit: exit, Delay: hook.Milliseconds(delay)}
	if of.Instance != nil && to != hook.StateStarting {
		e.PID = of.Info().PID
	}
	if p.opt.Workers > 1 {
		e.Worker = w.number
	}
	if exit != nil {
		p.lastExit = exit
	}
	p.opt.Events(e)
	for subscriber := range p.subscribers {
		select {
		case subscriber <- e:
		default: // the consumer fell behind; its closed channel says so
			close(subscriber)
			delete(p.subscribers, subscriber)
		}
	}
}

// Events yields every transition from now on, in order, until ctx ends or the pool is
// closed. A consumer that falls behind gets an error, and no more events.
func (p *Pool) Events(ctx context.Context) iter.Seq2[hook.Event, error] {
	events := make(chan hook.Event, eventBuffer)
	p.mu.Lock()
	if p.subscribers == nil {
		close(events)
	} else {
		p.subscribers[events] = struct{}{}
	}
	p.mu.Unlock()
	return func(yield func(hook.Event, error) bool) {
		defer func() {
			p.mu.Lock()
			defer p.mu.Unlock()
			delete(p.subscribers, events)
		}()
		for {
			select {
			case e, ok := <-events:
				if !ok {
					if !p.isClosed() {
						yield(hook.Event{}, &hook.Error{Kind: hook.Unavailable, Reason: "events-lost",
							Err: errors.New("events were lost: the consumer fell behind")})
					}
					return
				}
				if !yield(e, nil) {
					return
				}
			case <-ctx.Done():
				return
			}
		}
	}
}

// description caches the schemas that instances of one version of the plugin's files returned.
type description struct {
	version int
	hooks   map[schema.Query]schema.Schema // nil if the cache is empty
}

// Hooks describes the hooks, or one of them. If the answer is cached, Hooks returns it at once.
// Otherwise Hooks waits for a worker as a call does.
func (p *Pool) Hooks(ctx context.Context, q schema.Query) (schema.Schema, error) {
	if sch, ok := p.described(q); ok {
		return sch, nil
	}
	i, herr := p.acquire(ctx, q.Hook, false)
	if herr != nil {
		return schema.Schema{}, herr
	}
	defer p.finishUncounted(i, outcome{})
	sch, err := i.Describe(ctx, q)
	if err != nil {
		return sch, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if d := p.description; d.hooks == nil || d.version != i.version {
		p.description = description{i.version, map[schema.Query]schema.Schema{}}
	}
	p.description.hooks[q] = sch
	return sch, nil
}

// described returns the cached answer to a query.
func (p *Pool) described(q schema.Query) (sch schema.Schema, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	serves := func(w *worker) bool { return w.serving != nil && w.serving.version == p.description.version }
	if slices.ContainsFunc(p.workers, serves) {
		sch, ok = p.description.hooks[q]
	}
	return sch, ok
}
