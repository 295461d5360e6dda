package supervise

import (
	"context"
	"errors"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
)

// Lease is the use of the instance in a slot for one call. As long as it is held
// the supervisor takes the instance for busy: it is not probed, and its death is
// one during a call. It is given by [Supervisor.Acquire], and given back by
// [Lease.Release]. Those of one instance are the same, counted, so that one costs
// no memory.
type Lease struct {
	s *Supervisor
	g *generation
}

// Instance is the instance that is lent.
func (l *Lease) Instance() hook.Instance { return l.g.inst }

// Generation is which one it is.
func (l *Lease) Generation() int { return l.g.number }

// Release gives the instance back, with the error of the call that was made, nil
// for none. It is called once for each time that it was lent.
func (l *Lease) Release(err error) {
	g := l.g
	crashed := isClosed(g.inst.Done()) || err != nil && isCrash(err)
	l.s.mu.Lock()
	defer l.s.mu.Unlock()
	g.inCall = g.inCall || crashed
	if g.busy--; g.busy > 0 {
		return
	}
	if g.busy < 0 {
		panic("supervise: a lease was released twice")
	}
	g.released = time.Now()
	if g.idling {
		close(g.idle)
	}
}

// isCrash tells whether a call ended since the plugin did. It is asked only after
// one that failed, since it costs an allocation.
func isCrash(err error) bool {
	var e *hook.Error
	return errors.As(err, &e) && e.Kind == hook.Crash
}

// Acquire lends the instance in the slot. While there is none it waits for the
// next, as long as one is to come, and unless a start failed: see [Rules].Patient.
// How many calls the instance takes at once is its own matter: any number of leases
// is given.
//
// The error is the start's own when a start failed; of kind Unavailable when the
// slot is filled no more for another reason, such as a spent budget, which wraps the
// last failure, or a stop; and of kind Timeout or Canceled when ctx was over first.
func (s *Supervisor) Acquire(ctx context.Context) (*Lease, error) {
	began := time.Now()
	for {
		l, answer := s.lendOrWait()
		if l != nil {
			return l, nil
		}
		select {
		case s.inbox <- message{event: event{what: wanted}}:
		case <-ctx.Done():
			s.forget(answer)
			return nil, s.tooLong(ctx, began)
		case <-s.ended:
			s.forget(answer)
			return nil, errStopped
		}
		select {
		case err := <-answer:
			if err != nil {
				return nil, err
			}
		case <-ctx.Done():
			s.forget(answer)
			return nil, s.tooLong(ctx, began)
		case <-s.ended:
			s.forget(answer)
			return nil, errStopped
		}
	}
}

// TryAcquire lends the instance in the slot, and does not wait: it is false when
// none is ready.
func (s *Supervisor) TryAcquire() (*Lease, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lend()
}

// Instance is the instance in the slot, for what is no call, such as a probe or a
// look at it; false when none is ready. It is not lent: it may be stopped at any
// time, and whoever uses it does not make it busy.
func (s *Supervisor) Instance() (hook.Instance, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.current == nil || isClosed(s.current.inst.Done()) {
		return nil, false
	}
	return s.current.inst, true
}

// lend is TryAcquire under the lock.
func (s *Supervisor) lend() (*Lease, bool) {
	g := s.current
	if g == nil || isClosed(g.inst.Done()) {
		return nil, false
	}
	g.busy++
	g.leases++
	return &g.lease, true
}

// lendOrWait lends an instance, else gives a channel that will have the answer:
// an error, or nil to try again. Both are under one lock, so that no instance
// comes between them.
func (s *Supervisor) lendOrWait() (*Lease, chan error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l, ok := s.lend(); ok {
		return l, nil
	}
	answer := make(chan error, 1)
	s.waiting[answer] = struct{}{}
	return nil, answer
}

// forget takes back a wish.
func (s *Supervisor) forget(answer chan error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.waiting, answer)
}
