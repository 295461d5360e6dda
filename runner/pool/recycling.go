package pool

import (
	"fmt"
	"math/rand/v2"
	"time"
)

const (
	// lookEvery is the time between two looks at what an instance has used up.
	lookEvery = time.Second
	// recycleAgain is how long an instance stays whose replacement did not start.
	recycleAgain = time.Minute
)

// limits hold the limits after which an instance is replaced; 0: none. They are
// protected by the pool's mu.
type limits struct {
	calls     uint64
	age, idle time.Duration
	weighed   uint64    // its calls when its memory was last looked at
	notBefore time.Time // no replacement is started before
}

// recycles reports whether there are limits that need a look from time to time.
func (o Options) recycles() bool { return o.MaxAge > 0 || o.IdleTime > 0 || o.MaxMemory > 0 }

// jitter lowers a limit by up to a quarter.
func jitter(limit int64) int64 {
	if limit <= 0 {
		return 0
	}
	return limit - rand.Int64N(limit/4+1)
}

// newLimits returns the limits of a new instance.
func (p *Pool) newLimits() limits {
	return limits{
		calls: uint64(jitter(int64(p.opt.MaxCalls))),
		age:   time.Duration(jitter(int64(p.opt.MaxAge))), idle: time.Duration(jitter(int64(p.opt.IdleTime))),
	}
}

// recyclingDue returns why an instance has reached a limit, "" if it has not.
func (p *Pool) recyclingDue(g *instance) string {
	p.mu.Lock()
	l, calls, idle := g.limits, g.calls, time.Duration(0)
	if g.running == 0 && calls > 0 {
		idle = time.Since(g.lastCall)
	}
	quiet := time.Now().Before(l.notBefore)
	weigh := p.opt.MaxMemory > 0 && calls != l.weighed && !quiet
	if weigh {
		g.limits.weighed = calls
	}
	p.mu.Unlock()
	var memory int64 // 0 if unknown
	if weigh {
		memory, _ = p.opt.Memory(g.Info().PID)
	}
	age := time.Since(g.ready)
	switch {
	case quiet:
	case l.calls > 0 && calls >= l.calls:
		return fmt.Sprintf("answered %d calls", calls)
	case l.age > 0 && age >= l.age:
		return fmt.Sprintf("%v old", age.Round(time.Second))
	case l.idle > 0 && idle >= l.idle:
		return fmt.Sprintf("idle for %v", idle.Round(time.Second))
	case memory > p.opt.MaxMemory:
		return fmt.Sprintf("uses %d MB of memory, the limit is %d MB", memory>>20, p.opt.MaxMemory>>20)
	}
	return ""
}
