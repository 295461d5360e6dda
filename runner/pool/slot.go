package pool

import (
	"context"
	"errors"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
)

const (
	// probeLimit is how long an instance in doubt may take to answer.
	probeLimit = 2 * time.Second
	// staleWait is how long a filler gives a slot to see that the instance
	// that it gave has ended. It also keeps a slot that errs from spinning.
	staleWait = time.Millisecond
)

// slot is what the pool knows of one slot.
type slot struct {
	keeper  Slot
	current *generation   // takes the next calls; nil when there is none
	lost    hook.Instance // the last that was given up
	filling bool          // a filler waits for an instance
	again   *time.Timer   // starts one later; nil before it was needed
	used    uint64        // by which of the pool's calls it was used last
	running int           // calls and leases, also in older generations
	calls   uint64
	failed  uint64
}

// generation is one instance of a slot. An older one still has the calls that
// it had when it was replaced.
type generation struct {
	slot    *slot
	inst    hook.Instance
	places  int // how many calls it takes at once
	running int
	// doubts is how many calls may have left it hanging, as is being found out,
	// answered how many it has answered.
	doubts   int
	answered uint64
	wear     wear
}

// free tells whether a call can be made in the slot, as far as the pool knows.
func (s *slot) free() bool {
	g := s.current
	return g != nil && g.running < g.places && g.doubts == 0
}

// place is a hold on an instance for a call or a lease.
type place struct {
	gen  *generation
	hold Hold
}

// take holds the best place that is free, if one is.
func (p *Pool) take() (place, bool) {
	for {
		var best *slot
		for _, s := range p.slots {
			if s.free() && (best == nil || s.before(best)) {
				best = s
			}
		}
		if best == nil {
			return place{}, false
		}
		if at, ok := p.try(best); ok {
			return at, true
		}
	}
}

// before tells which of two free slots is the better.
func (s *slot) before(other *slot) bool {
	if a, b := s.current.running, other.current.running; a != b {
		return a < b
	}
	return s.used > other.used
}

// try takes a place of a slot that has an instance. When that is gone it fails,
// and the slot has none.
func (p *Pool) try(s *slot) (place, bool) {
	hold, ok := s.keeper.TryAcquire()
	if ok {
		var at place
		if at, ok = p.enter(s, hold); ok {
			return at, true
		}
	}
	p.lose(s)
	return place{}, false
}

// enter makes a hold a place. It fails, and releases the hold, for an instance
// that takes no more calls.
func (p *Pool) enter(s *slot, hold Hold) (place, bool) {
	inst := hold.Instance()
	if inst == s.lost || ended(inst) {
		s.lost = inst
		hold.Release(nil)
		return place{}, false
	}
	if s.current == nil || s.current.inst != inst {
		s.current.stopTimer()
		s.current = &generation{slot: s, inst: inst, places: max(1, min(inst.Concurrency(), p.opt.Concurrency))}
		p.begin(s.current)
	}
	s.running++
	s.current.running++
	return place{s.current, hold}, true
}

// release gives a place back, and to whoever waits.
func (p *Pool) release(at place, v verdict) {
	g, s := at.gen, at.gen.slot
	g.running--
	s.running--
	at.hold.Release(v.err)
	if v.fate != kept && s.current == g {
		s.lost = g.inst
		p.lose(s)
	}
	p.serve(s)
}

// serve gives the free places of a slot to those who wait. No other slot has
// any, or nobody would wait.
func (p *Pool) serve(s *slot) {
	for p.queue.len > 0 && s.free() {
		if at, ok := p.try(s); ok {
			p.queue.pop().grant(at, nil)
		}
	}
}

// renew looks at a slot that has a new instance, whose places are all free. One
// without any is left to its filler, whose hold may be on an older one: only as
// long as nobody else fills the slot does it never go back to that.
func (p *Pool) renew(s *slot) {
	if s.current == nil {
		return
	}
	if at, ok := p.try(s); ok {
		p.release(at, verdict{})
	}
}

// lose notes that a slot has no instance, and waits for the next.
func (p *Pool) lose(s *slot) {
	s.current.stopTimer()
	s.current = nil
	p.fill(s)
}

// fill starts a slot's filler, unless there is one.
func (p *Pool) fill(s *slot) {
	if s.filling || p.closed {
		return
	}
	s.filling = true
	p.work.Go(func() { // ends as filled says, and with p.ctx
		hold, err := s.keeper.Acquire(p.ctx)
		for !p.filled(s, hold, err) {
			hold, err = p.other(s, hold.Instance())
		}
	})
}

// other waits for an instance other than one that takes no more calls, or that
// has ended so short a time ago that its slot has not seen it.
func (p *Pool) other(s *slot, lost hook.Instance) (Hold, error) {
	if !ended(lost) {
		if err := s.keeper.Replace(p.ctx, "it takes no more calls"); err != nil && !ended(lost) {
			return nil, err
		}
	}
	select {
	case <-time.After(staleWait):
	case <-p.ctx.Done():
	}
	return s.keeper.Acquire(p.ctx)
}

// filled takes what a slot gave its filler, false when that takes no calls.
func (p *Pool) filled(s *slot, hold Hold, err error) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err != nil {
		s.filling = false
		p.despair(err)
		p.askAgain(s, err)
		return true
	}
	at, ok := p.enter(s, hold)
	if !ok {
		return false
	}
	s.filling = false
	p.release(at, verdict{}) // to whoever waits
	return true
}

// askAgain has a slot filled that tries again by itself, for those who wait for
// another one, which is busy. Nobody else would ask it before the next call.
func (p *Pool) askAgain(s *slot, err error) {
	var later *LaterError
	if !errors.As(err, &later) || p.closed {
		return
	}
	s.stopAsking()
	s.again = time.AfterFunc(later.Next+staleWait, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if s.current == nil {
			p.fill(s)
		}
	})
}

// stopAsking takes askAgain back.
func (s *slot) stopAsking() {
	if s.again != nil {
		s.again.Stop()
	}
}

// despair tells those who wait why a slot gave up, if that was the last hope.
func (p *Pool) despair(err error) {
	for _, s := range p.slots {
		if s.current != nil || s.filling {
			return
		}
	}
	for p.queue.len > 0 {
		w := p.queue.pop()
		w.grant(place{}, gaveUp(w.hook, err))
	}
}

// probe asks an instance in doubt how it is; silent tells that it did not say.
func probe(ctx context.Context, inst hook.Instance) (f fate, silent bool) {
	ctx, cancel := context.WithTimeout(ctx, probeLimit)
	defer cancel()
	if inst.Probe(ctx) != nil {
		return condemned, ctx.Err() != nil
	}
	return kept, false
}

// ended tells whether an instance is gone.
func ended(inst hook.Instance) bool {
	select {
	case <-inst.Done():
		return true
	default:
		return false
	}
}
