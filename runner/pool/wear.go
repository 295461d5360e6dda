package pool

import (
	"fmt"
	"math/rand/v2"
	"time"
)

const (
	// weighEvery is the shortest time between two looks at an instance's memory.
	weighEvery = time.Second
	// askAgain is how long an instance stays for which no replacement could be
	// started, before another is asked for.
	askAgain = time.Minute
)

// wear is how used up an instance is, and how much it may be.
type wear struct {
	born  time.Time // when its process was started
	calls uint64
	last  time.Time // when its last call ended

	weighed uint64    // its calls when its memory was last looked at
	weight  time.Time // when that was

	maxCalls uint64
	maxAge   time.Duration
	maxIdle  time.Duration

	asked bool        // a replacement is being started
	quiet time.Time   // none is asked for before
	timer *time.Timer // looks at it again; nil until that is needed
	at    time.Time   // when the timer fires; zero when it does not
}

// lowered is a limit made lower by up to a quarter.
func lowered(limit int64) int64 { return limit - rand.Int64N(limit/4+1) }

// begin gives a new instance its limits.
func (p *Pool) begin(g *generation) {
	w := &g.wear
	if p.opt.MaxCalls > 0 {
		w.maxCalls = uint64(lowered(int64(p.opt.MaxCalls)))
	}
	if !p.timed || p.closed {
		return
	}
	now := time.Now()
	if w.born = g.inst.Info().Started; w.born.IsZero() {
		w.born = now
	}
	w.maxAge = time.Duration(lowered(int64(max(p.opt.MaxAge, 0))))
	w.maxIdle = time.Duration(lowered(int64(max(p.opt.IdleTime, 0))))
	p.schedule(g, now)
}

// count notes that a call ended.
func (p *Pool) count(g *generation, v verdict) {
	p.calls++
	g.slot.calls++
	g.slot.used = p.calls
	if v.err == nil || v.answered {
		g.answered++
	}
	if v.err != nil {
		p.failed++
		g.slot.failed++
	}
	w := &g.wear
	w.calls++
	if g.slot.current != g || p.closed {
		return
	}
	if w.maxCalls > 0 && w.calls >= w.maxCalls && w.mayAsk(time.Now()) {
		p.replace(g, fmt.Sprintf("it answered %d calls", w.calls))
	}
	if p.timed {
		w.last = time.Now()
		p.schedule(g, w.last)
	}
}

// mayAsk tells whether a replacement may be asked for.
func (w *wear) mayAsk(now time.Time) bool { return !w.asked && !now.Before(w.quiet) }

// replace asks for a replacement, and takes it into use when it is ready.
func (p *Pool) replace(g *generation, reason string) {
	w := &g.wear
	w.asked = true
	p.work.Go(func() { // ends with p.ctx
		err := g.slot.keeper.Replace(p.ctx, reason)
		p.mu.Lock()
		defer p.mu.Unlock()
		if err == nil {
			p.renew(g.slot)
			return
		}
		now := time.Now()
		w.asked, w.quiet = false, now.Add(askAgain)
		if g.slot.current == g && !p.closed {
			p.schedule(g, now)
		}
	})
}

// schedule sets the timer for when an instance has to be looked at next.
func (p *Pool) schedule(g *generation, now time.Time) {
	w := &g.wear
	at := p.next(g, now)
	if at.IsZero() || !w.at.IsZero() && !at.Before(w.at) {
		return
	}
	w.at = at
	if w.timer == nil {
		w.timer = time.AfterFunc(at.Sub(now), func() { p.look(g) }) // a look ends by itself
		return
	}
	w.timer.Reset(at.Sub(now))
}

// next is when an instance has to be looked at, the zero time for not at all.
func (p *Pool) next(g *generation, now time.Time) time.Time {
	w := &g.wear
	var at time.Time
	if w.maxAge > 0 {
		at = w.born.Add(w.maxAge)
	}
	if w.maxIdle > 0 && w.calls > 0 {
		at = sooner(at, p.idleSince(g, now).Add(w.maxIdle))
	}
	if p.opt.MaxMemory > 0 && w.calls != w.weighed {
		at = sooner(at, w.weight.Add(weighEvery))
	}
	if w.asked {
		return time.Time{}
	}
	if !at.IsZero() && at.Before(w.quiet) {
		at = w.quiet
	}
	return at
}

// idleSince is when an instance's last call ended, now if one runs.
func (p *Pool) idleSince(g *generation, now time.Time) time.Time {
	if g.running > 0 {
		return now
	}
	return g.wear.last
}

func sooner(a, b time.Time) time.Time {
	if a.IsZero() || b.Before(a) {
		return b
	}
	return a
}

// look looks whether an instance has reached a limit that time brings.
func (p *Pool) look(g *generation) {
	var weight int64 // 0 when it cannot be told: no reason to go
	if p.opt.MaxMemory > 0 {
		if bytes, ok := p.opt.Memory(g.inst.Info().PID); ok {
			weight = bytes
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	w := &g.wear
	if g.slot.current != g || p.closed || ended(g.inst) {
		return
	}
	now := time.Now()
	w.at, w.weight, w.weighed = time.Time{}, now, w.calls
	if reason := p.worn(g, now, weight); reason != "" && w.mayAsk(now) {
		p.replace(g, reason)
	}
	p.schedule(g, now)
}

// worn says which limit an instance has reached, "" for none.
func (p *Pool) worn(g *generation, now time.Time, weight int64) string {
	w := &g.wear
	age, idle := now.Sub(w.born), now.Sub(p.idleSince(g, now))
	switch {
	case w.maxAge > 0 && age >= w.maxAge:
		return fmt.Sprintf("it is %v old", age.Round(time.Second))
	case w.maxIdle > 0 && idle >= w.maxIdle:
		return fmt.Sprintf("it was idle for %v", idle.Round(time.Second))
	case p.opt.MaxMemory > 0 && weight > p.opt.MaxMemory:
		return fmt.Sprintf("it takes %d MB of memory, at most %d MB were wanted", weight>>20, p.opt.MaxMemory>>20)
	}
	return ""
}

// stopTimer ends the looks at an instance that is no longer current, or at none.
func (g *generation) stopTimer() {
	if g != nil && g.wear.timer != nil {
		g.wear.timer.Stop()
	}
}
