package proc

import (
	"sync"
	"time"
)

const (
	// shortest is the shortest time that a limited process runs in one go.
	shortest = 2 * time.Millisecond
	// longest is the longest time that it is stopped in one go.
	longest = time.Second
	// interruptTime is what an interrupted process has to answer undisturbed.
	interruptTime = 250 * time.Millisecond
)

// throttle stops and continues a group. It is safe for concurrent use.
type throttle struct {
	mu      sync.Mutex
	stopped bool
	over    bool      // it runs free, for good
	free    time.Time // until then it runs free
}

// stop stops the group unless it is to run free.
func (t *throttle) stop(of *tree) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.over && !time.Now().Before(t.free) {
		t.stopped = of.suspend() == nil
	}
}

// resume continues the group if it is stopped.
func (t *throttle) resume(of *tree) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.wake(of)
}

func (t *throttle) wake(of *tree) {
	if t.stopped {
		of.resume()
		t.stopped = false
	}
}

// release lets the group run free until then.
func (t *throttle) release(of *tree, until time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if until.After(t.free) {
		t.free = until
	}
	t.wake(of)
}

// end lets the group run free for good.
func (t *throttle) end(of *tree) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.over = true
	t.wake(of)
}

// Respite lets the process run without its CPU limit for d, at once, so that it
// can answer in time; what it takes meanwhile counts. It does nothing to a process
// without such a limit.
func (p *Process) Respite(d time.Duration) { p.throttle.release(p.tree, time.Now().Add(d)) }

// holdCPU holds the group to its share of the CPU: it runs, owes what it took
// above the share, and is stopped until that is made good. A process that is idle
// is looked at every 100 ms; a busy one runs as long as it takes it to use up its
// share of 100 ms.
func (p *Process) holdCPU() {
	defer p.throttle.resume(p.tree)
	a := account{share: p.spec.Limits.CPU}
	last, used := time.Now(), p.tree.cpu()
	for run := lookEvery; !p.deadWithin(run); {
		now, total := time.Now(), p.tree.cpu()
		var pause time.Duration
		run, pause = a.enter(total-used, now.Sub(last))
		last, used = now, total
		if pause <= 0 {
			continue
		}
		p.throttle.stop(p.tree)
		dead := p.deadWithin(pause)
		p.throttle.resume(p.tree)
		if dead {
			return
		}
		a.rest(time.Since(last))
		last = time.Now()
	}
}

// account keeps what a process took of the CPU beyond its share.
type account struct {
	share float64       // cores
	owed  time.Duration // CPU time; negative where it has some left
}

// enter enters that the process took so much CPU time while it ran for a while,
// and returns how long it is to run next, after a pause if it owes something. What
// it did not use is lost after 100 ms, and what it owes after a second's pause.
func (a *account) enter(cpu, ran time.Duration) (run, pause time.Duration) {
	a.rest(ran)
	a.owed = min(a.owed+cpu, a.of(longest))
	if a.owed > 0 {
		pause = time.Duration(float64(a.owed) / a.share)
	}
	run = lookEvery
	if cpu > a.of(ran) {
		run = time.Duration(float64(a.of(lookEvery)) / float64(cpu) * float64(ran))
	}
	return min(max(run, shortest), lookEvery), pause
}

// rest enters that time has passed.
func (a *account) rest(passed time.Duration) {
	a.owed = max(a.owed-a.of(passed), -a.of(lookEvery))
}

// of is the share of a time.
func (a *account) of(d time.Duration) time.Duration { return time.Duration(a.share * float64(d)) }
