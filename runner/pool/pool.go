package pool

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
)

// DefaultQueue is how many calls may wait unless [Options] say otherwise.
const DefaultQueue = 1000

// ErrStopping answers calls that come when a pool is drained or closed.
var ErrStopping = errors.New("the plugin is being stopped")

// LaterError says that a slot has no instance just now, since one did not start, and
// tries again by itself.
type LaterError struct {
	// Err is what the start failed by.
	Err error
	// Next is how long it is until the next start, 0 when that is under way.
	Next time.Duration
}

// Error says what the start failed by.
func (e *LaterError) Error() string { return e.Err.Error() }

// When says in words when it tries again.
func (e *LaterError) When() string {
	const unit = 100 * time.Millisecond
	if e.Next <= 0 {
		return "it is being started again"
	}
	return fmt.Sprintf("it is started again in %v", max(e.Next.Round(unit), unit))
}

// Unwrap returns the cause.
func (e *LaterError) Unwrap() error { return e.Err }

// Slot keeps one instance alive: it starts another when one ends. It is safe for
// concurrent use. TryAcquire and [Hold].Release are called for each call, under
// the pool's lock: they return at once and do not call the pool. Instances are
// compared, so they are pointers.
type Slot interface {
	// Acquire gives the instance that is ready, and waits while one starts. The
	// error, which should be a [*hook.Error], says that ctx ended or that the
	// slot gave up; it is then asked again when another call has to wait, and
	// after a [*LaterError] also by and by.
	Acquire(ctx context.Context) (Hold, error)
	// TryAcquire gives the instance that is ready, false if none is.
	TryAcquire() (Hold, bool)
	// Replace puts a new instance into the slot and returns when it is ready. The
	// old one goes after that, when nobody holds it. When the new one does not
	// start the old one stays, and the error is that of the start. Ending ctx
	// ends the waiting.
	Replace(ctx context.Context, reason string) error
	// Stop ends the instance, held or not, and whatever waits in Acquire and
	// Replace, and returns when all of it is gone. Ending ctx skips to the kill.
	// It may be called more than once and at the same time.
	Stop(ctx context.Context) error
}

// Hold is the use of a slot's instance for one call or one lease. An instance
// that is held is not stopped in favour of another, as far as its slot has time.
type Hold interface {
	// Instance is the same each time, also after Release.
	Instance() hook.Instance
	// Release ends the hold, with the error of the call that was made, nil for
	// none. It is called once.
	Release(err error)
}

// Options say how a pool behaves. The zero value is one call at a time in each
// instance, a queue of [DefaultQueue], no limit on waiting and no recycling.
//
// Of the limits MaxCalls, MaxAge, IdleTime and MaxMemory each instance is given
// its own, up to a quarter lower, MaxMemory apart, so that not all go at once.
// They are soft: the replacement is ready before the old one goes, which
// answers until then, and finishes its calls. When none could be started the old
// one stays, for a minute at least.
type Options struct {
	// Concurrency is the most calls in one instance at once, at least 1; an
	// instance that takes fewer gets fewer.
	Concurrency int
	// Queue is how many calls may wait; 0: [DefaultQueue].
	Queue int
	// QueueTimeout bounds each wait, also that for an instance that starts; 0:
	// only the call's context does.
	QueueTimeout time.Duration

	// Probe has an instance probed after a call that it was sent ran out of
	// time or was cancelled, before it gets another call: for transports whose
	// Call returns before the plugin gave the call up. One that does not answer
	// within 2 s, nor any other of its calls, is replaced.
	Probe bool

	// MaxCalls is how many calls an instance answers.
	MaxCalls int
	// MaxAge runs from an instance's start.
	MaxAge time.Duration
	// IdleTime runs from the end of an instance's last call. One that was never
	// called is as good as new, and stays.
	IdleTime time.Duration
	// MaxMemory is in bytes, as Memory tells them. It is looked at within a
	// second of a call, not while no calls are made.
	MaxMemory int64
	// Memory tells how much memory a process takes; false when it cannot.
	Memory func(pid int) (bytes int64, ok bool)
}

// Pool spreads calls over slots. It is safe for concurrent use. It belongs to
// the caller of [New], who closes it; the slots belong to the pool.
type Pool struct {
	opt    Options
	slots  []*slot
	timed  bool            // instances have limits that need a clock
	ctx    context.Context // ends whatever work counts
	cancel context.CancelFunc
	work   sync.WaitGroup // fillers, probes and replacements
	spare  sync.Pool      // waiters to be used again

	mu       sync.Mutex // protects following, and the fields of slots and generations
	queue    queue
	active   int    // calls and leases that were let in and have not left
	calls    uint64 // that ran in an instance
	failed   uint64 // calls that failed, those that found no place included
	draining bool
	closed   bool
	empty    chan struct{} // closed when draining and none is active
}

var _ hook.Caller = (*Pool)(nil)

// New makes a pool over slots, of which there must be one at least. It starts
// to fill them and does not wait.
func New(slots []Slot, opt Options) *Pool {
	if len(slots) == 0 {
		panic("pool: no slots")
	}
	opt.Concurrency = max(opt.Concurrency, 1)
	if opt.Queue <= 0 {
		opt.Queue = DefaultQueue
	}
	if opt.Memory == nil {
		opt.MaxMemory = 0
	}
	p := &Pool{opt: opt, empty: make(chan struct{})}
	p.timed = opt.MaxAge > 0 || opt.IdleTime > 0 || opt.MaxMemory > 0
	p.spare.New = func() any { return &waiter{granted: make(chan struct{}, 1)} }
	p.ctx, p.cancel = context.WithCancel(context.Background())
	for _, keeper := range slots {
		p.slots = append(p.slots, &slot{keeper: keeper})
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range p.slots {
		p.fill(s)
	}
	return p
}

// Call makes a call in the instance that has the most room, after waiting for a
// place. The limit on the call is ctx's, waiting included. Errors are those of
// the instance, those of a slot when all slots gave up, and, of kind
// Unavailable, a [*FullError], a [*hook.LimitError] for the limit on waiting and
// [ErrStopping].
//
// A call that an instance refused unsent, since it had just ended, is made again
// in another, unless it has an Input, of which some may be read: once, or where
// instances take several calls at once as often as one of those may end it.
func (p *Pool) Call(ctx context.Context, c hook.Call) (hook.Result, error) {
	again := false
	var waited time.Time
	for left := p.opt.Concurrency; ; left-- {
		at, herr := p.acquire(ctx, c.Hook, again, &waited)
		if herr != nil {
			return hook.Result{}, herr
		}
		var r hook.Result
		var err error
		if r, again, err = p.call(ctx, at, c, left > 0 && c.Input == nil); err == nil {
			return r, nil
		}
		if !again {
			return r, whole(ctx, err, waited)
		}
	}
}

// call makes a call in a place and gives the place back. When it is to be made
// again, it has not left the pool.
func (p *Pool) call(ctx context.Context, at place, c hook.Call, mayRepeat bool) (r hook.Result, again bool, err error) {
	v := unknown
	defer func() { p.finish(at, v, again) }()
	r, err = at.gen.inst.Call(ctx, c)
	v = judge(err)
	again = v.again && mayRepeat
	return r, again, err
}

// acquire finds a place, at once or after waiting. Who comes again is let in
// already and waits in front. Waited is since when, if it had to.
func (p *Pool) acquire(ctx context.Context, hookName string, again bool, waited *time.Time) (place, *hook.Error) {
	p.mu.Lock()
	if !again {
		p.active++
	}
	switch {
	case ctx.Err() != nil:
		return place{}, p.refuse(hook.Ended(ctx, hookName, NoPlace, time.Now(), false))
	case p.closed || p.draining && !again:
		return place{}, p.refuse(unavailable(hookName, ErrStopping))
	}
	if p.queue.len == 0 {
		if at, ok := p.take(); ok {
			p.mu.Unlock()
			return at, nil
		}
	}
	if p.queue.len >= p.opt.Queue && !again {
		return place{}, p.refuse(unavailable(hookName, &FullError{Waiting: p.queue.len}))
	}
	w := p.enqueue(hookName, again)
	p.mu.Unlock()
	return p.wait(ctx, w, waited)
}

// refuse lets a call go that found no place, and the lock with it.
func (p *Pool) refuse(e *hook.Error) *hook.Error {
	p.failed++
	p.leave()
	p.mu.Unlock()
	return e
}

// finish gives a call's place back. One that is made again never ran, and stays.
func (p *Pool) finish(at place, v verdict, again bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if again {
		p.release(at, v)
		return
	}
	p.count(at.gen, v)
	p.depart(at, v)
}

// depart gives a place back and lets its owner go, after asking the instance how
// it is where that is in doubt. Until that is known it gets no further call: one
// that hangs would take it down with it.
func (p *Pool) depart(at place, v verdict) {
	if !v.doubt || !p.opt.Probe || p.closed {
		p.release(at, v)
		p.leave()
		return
	}
	at.gen.doubts++
	answered := at.gen.answered
	p.work.Go(func() { // ends within probeLimit
		v := v // or each call would cost an allocation
		var silent bool
		v.fate, silent = probe(p.ctx, at.gen.inst)
		p.mu.Lock()
		defer p.mu.Unlock()
		if silent && at.gen.answered != answered { // it has no thread free for the probe
			v.fate = kept
		}
		at.gen.doubts--
		p.release(at, v)
		p.leave()
	})
}

// leave lets one go that was let in.
func (p *Pool) leave() {
	p.active--
	p.drained()
}

// drained tells those who wait for it that none is left.
func (p *Pool) drained() {
	if !p.draining || p.active > 0 {
		return
	}
	select {
	case <-p.empty:
	default:
		close(p.empty)
	}
}

// Drain lets no new call and no new lease in, for good, and returns when those
// that run or wait have ended and all leases are closed. The error, a
// [*hook.Error] of kind Timeout or Canceled, says that ctx ended first. It may
// be called more than once.
func (p *Pool) Drain(ctx context.Context) error {
	began := time.Now()
	p.mu.Lock()
	p.draining = true
	p.drained()
	p.mu.Unlock()
	select {
	case <-p.empty:
		return nil
	default:
	}
	select {
	case <-p.empty:
		return nil
	case <-ctx.Done():
		return hook.Ended(ctx, "", "the calls did not end", began, false)
	}
}

// Replace puts new instances into the slots, one after the other, each ready
// before the old one goes. When one does not start, it and those after it stay
// as they are, and the error is that of its slot. Ending ctx ends the waiting.
func (p *Pool) Replace(ctx context.Context, reason string) error {
	for _, s := range p.slots {
		if err := s.keeper.Replace(ctx, reason); err != nil {
			return err
		}
		p.mu.Lock()
		p.renew(s)
		p.mu.Unlock()
	}
	return nil
}

// Close stops the slots, all at once, and returns when they are. Calls that wait
// are answered [ErrStopping], those that run as their instance does when it is
// stopped; Close does not wait for them. Ending ctx skips to the kill, as
// [Slot] promises. The errors are those of the slots. It may be called more
// than once and at the same time.
func (p *Pool) Close(ctx context.Context) error {
	p.mu.Lock()
	p.draining, p.closed = true, true
	for p.queue.len > 0 {
		w := p.queue.pop()
		w.grant(place{}, unavailable(w.hook, ErrStopping))
	}
	for _, s := range p.slots {
		s.current.stopTimer()
		s.stopAsking()
	}
	p.drained()
	p.mu.Unlock()
	p.cancel()
	errs := make([]error, len(p.slots))
	var stops sync.WaitGroup
	for i, s := range p.slots {
		stops.Go(func() { errs[i] = s.keeper.Stop(ctx) })
	}
	stops.Wait()
	p.work.Wait()
	return errors.Join(errs...)
}

func unavailable(hookName string, err error) *hook.Error {
	return &hook.Error{Kind: hook.Unavailable, Hook: hookName, Err: err}
}
