package pool

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
)

var (
	errReturned = errors.New("the lease was closed")
	errLost     = errors.New("the leased instance has ended")
)

// Lease is one place of one instance, kept for several calls. It is a
// [hook.Caller], makes one call at a time, the others wait, and never moves to
// another instance: when its own has ended, its calls are of kind Unavailable.
// It belongs to whom [Pool.Lease] gave it, who closes it.
type Lease struct {
	pool *Pool
	inst hook.Instance
	turn chan struct{} // holds a token when no call is running
	done chan struct{} // closed by Close

	// Of whoever has the turn.
	at   place   // the zero place when it was given back
	last verdict // on the last call

	mu     sync.Mutex // protects closed, and the turn's way to Close
	closed bool
}

var _ hook.Caller = (*Lease)(nil)

// Lease gives a place for the caller's own, after waiting as a call does; the
// errors are those of [Pool.Call]. An instance that is replaced meanwhile stays
// until the lease is closed, as far as its slot has time.
func (p *Pool) Lease(ctx context.Context) (*Lease, error) {
	at, herr := p.acquire(ctx, "", false, new(time.Time))
	if herr != nil {
		return nil, herr
	}
	l := &Lease{pool: p, inst: at.gen.inst, at: at, turn: make(chan struct{}, 1), done: make(chan struct{})}
	l.turn <- struct{}{}
	return l, nil
}

// Instance is the leased instance, for what is no call, such as Describe. It is
// not used after Close, and not stopped.
func (l *Lease) Instance() hook.Instance { return l.inst }

// Call makes a call in the leased instance. It is never made twice.
func (l *Lease) Call(ctx context.Context, c hook.Call) (hook.Result, error) {
	began := time.Now()
	select {
	case <-l.turn:
	case <-l.done:
		return hook.Result{}, unavailable(c.Hook, errReturned)
	case <-ctx.Done():
		return hook.Result{}, hook.Ended(ctx, c.Hook, NoPlace, began, false)
	}
	defer l.endTurn()
	if herr := l.settle(ctx, c.Hook, began); herr != nil {
		return hook.Result{}, herr
	}
	if l.at.gen == nil {
		return hook.Result{}, unavailable(c.Hook, errLost)
	}
	v := unknown
	defer func() { l.note(v) }()
	r, err := l.inst.Call(ctx, c)
	v = judge(err)
	return r, err
}

// settle asks the instance how it is where that is in doubt.
func (l *Lease) settle(ctx context.Context, hookName string, began time.Time) *hook.Error {
	if l.at.gen == nil || !l.last.doubt || !l.pool.opt.Probe {
		return nil
	}
	f, _ := probe(ctx, l.inst)
	if f != kept && ctx.Err() != nil { // it had no time to answer
		return hook.Ended(ctx, hookName, NoPlace, began, false)
	}
	if l.last.fate = f; f != kept {
		l.lose()
	}
	return nil
}

// note takes what came of a call.
func (l *Lease) note(v verdict) {
	l.pool.mu.Lock()
	l.pool.count(l.at.gen, v)
	l.pool.mu.Unlock()
	if v.fate == kept && ended(l.inst) {
		v.fate = gone
	}
	if l.last = v; v.fate != kept {
		l.lose()
	}
}

// lose gives the place of an instance that takes no more calls back at once, so
// that the slot is filled again.
func (l *Lease) lose() {
	l.pool.mu.Lock()
	defer l.pool.mu.Unlock()
	l.pool.release(l.at, l.last)
	l.at = place{}
}

// endTurn lets the next call begin, or the place go.
func (l *Lease) endTurn() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		l.giveBack()
		return
	}
	l.turn <- struct{}{}
}

// Close gives the place back, at once or when the call that runs has ended. It
// does not wait, and may be called more than once.
func (l *Lease) Close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return
	}
	l.closed = true
	close(l.done)
	select {
	case <-l.turn:
		l.giveBack()
	default:
	}
}

// giveBack is called once, by whoever has the turn last.
func (l *Lease) giveBack() {
	p := l.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	if l.at.gen == nil {
		p.leave()
		return
	}
	p.depart(l.at, l.last)
}
