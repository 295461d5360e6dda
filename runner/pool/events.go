package pool

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
)

// eventBuffer is how many events a consumer of [Pool.Events] may fall behind.
const eventBuffer = 1024

// enter changes the worker's state. p.mu is held; [Pool.deliver] follows.
func (w *worker) enter(to hook.State, of *instance, reason string, exit *hook.Exit, delay time.Duration) {
	from := w.state
	w.state, w.reason, w.since, w.last = to, reason, time.Now(), of
	w.pool.event(w, from, to, of, reason, exit, delay)
}

// transition is enter for those who do not hold p.mu.
func (w *worker) transition(to hook.State, of *instance, reason string, exit *hook.Exit) {
	w.pool.mu.Lock()
	w.enter(to, of, reason, exit, 0)
	w.pool.mu.Unlock()
	w.pool.deliver()
}

// event queues an event about an instance. p.mu is held; [Pool.deliver] follows.
func (p *Pool) event(w *worker, from, to hook.State, of *instance, reason string, exit *hook.Exit, delay time.Duration) {
	e := hook.Event{Time: time.Now(), From: from, To: to, Reason: reason, Exit: exit, Delay: delay}
	if of != nil {
		e.Generation = of.generation
		if of.Instance != nil && to != hook.StateStarting {
			e.PID = of.Info().PID
		}
	}
	if p.opt.Workers > 1 {
		e.Worker = w.number
	}
	if exit != nil {
		p.lastExit = exit
	}
	p.events = append(p.events, e)
}

// deliver delivers the queued events, one by one, in order.
func (p *Pool) deliver() {
	p.notifying.Lock()
	defer p.notifying.Unlock()
	p.mu.Lock()
	events := p.events
	p.events = nil
	for subscriber := range p.subscribers {
		if cap(subscriber)-len(subscriber) < len(events) { // it has fallen behind, and learns so
			close(subscriber)
			delete(p.subscribers, subscriber)
			continue
		}
		for _, e := range events {
			subscriber <- e
		}
	}
	p.mu.Unlock()
	for _, e := range events {
		p.opt.Events(e)
	}
}

// Events yields every transition from now on, in order, until ctx ends or the pool is
// closed. A consumer that falls behind gets an error, and no more events.
func (p *Pool) Events(ctx context.Context) iter.Seq2[hook.Event, error] {
	events := make(chan hook.Event, eventBuffer)
	p.mu.Lock()
	if p.ended {
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
