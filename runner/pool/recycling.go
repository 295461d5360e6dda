package pool

import (
	"fmt"
	"math/rand/v2"
	"time"
)

const (
	// weighEvery is the time between two looks at an instance's memory.
	weighEvery = time.Second
	// recycleAgain is how long an instance stays whose replacement did not start.
	recycleAgain = time.Minute
)

// recycling holds the limits after which an instance is replaced; 0: none. It is
// protected by the pool's mu.
type recycling struct {
	maxCalls        uint64
	maxAge, maxIdle time.Duration
	born            time.Time
	weighed         uint64    // its calls when its memory was last looked at
	notBefore       time.Time // no replacement is started before
}

// jitter lowers a limit by up to a quarter.
func jitter(limit int64) int64 {
	if limit <= 0 {
		return 0
	}
	return limit - rand.Int64N(limit/4+1)
}

// limits gives a new instance its limits.
func (p *Pool) limits(g *instance) recycling {
	r := recycling{
		maxCalls: uint64(jitter(int64(p.opt.MaxCalls))), born: g.Info().Started,
		maxAge: time.Duration(jitter(int64(p.opt.MaxAge))), maxIdle: time.Duration(jitter(int64(p.opt.IdleTime))),
	}
	if r.born.IsZero() {
		r.born = time.Now()
	}
	return r
}

// due returns why an instance is to be replaced, "" if it is not, and after which time
// to look again, 0: at its next call.
func (p *Pool) due(g *instance) (reason string, again time.Duration) {
	p.mu.Lock()
	r, calls, idle := g.recycle, g.calls, time.Duration(0)
	quiet := time.Until(r.notBefore)
	if g.running == 0 && calls > 0 {
		idle = time.Since(g.lastCall)
	}
	weigh := p.opt.MaxMemory > 0 && calls != r.weighed && quiet <= 0
	if weigh {
		g.recycle.weighed = calls
	}
	p.mu.Unlock()
	var memory int64 // 0 if unknown
	if weigh {
		memory, _ = p.opt.Memory(g.Info().PID)
	}
	age := time.Since(r.born)
	switch {
	case quiet > 0:
		return "", quiet
	case r.maxCalls > 0 && calls >= r.maxCalls:
		return fmt.Sprintf("answered %d calls", calls), 0
	case r.maxAge > 0 && age >= r.maxAge:
		return fmt.Sprintf("%v old", age.Round(time.Second)), 0
	case r.maxIdle > 0 && idle >= r.maxIdle:
		return fmt.Sprintf("idle for %v", idle.Round(time.Second)), 0
	case memory > p.opt.MaxMemory:
		return fmt.Sprintf("uses %d MB of memory, the limit is %d MB", memory>>20, p.opt.MaxMemory>>20), 0
	}
	sooner := func(d time.Duration) {
		if again == 0 || d < again {
			again = d
		}
	}
	if r.maxAge > 0 {
		sooner(r.maxAge - age)
	}
	if r.maxIdle > 0 {
		sooner(r.maxIdle - idle)
	}
	if p.opt.MaxMemory > 0 {
		sooner(weighEvery)
	}
	return "", again
}
