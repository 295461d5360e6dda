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

// enter changes the worker's state. p.mu is held.
func (w *worker) enter(to hook.State, of *instance, reason string, exit *hook.Exit, delay time.Duration) {
	from := w.state
	w.state, w.reason, w.since, w.last = to, reason, time.Now(), of
	w.pool.event(w, from, to, of, reason, exit, delay)
}

// event reports an event about an instance. p.mu is held, so all see one order.
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
		default: // it has fallen behind, and learns so
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
