package proc

import (
	"context"
	"sync/atomic"
	"time"
)

const (
	// askTime is what a process has to go when it was asked by word.
	askTime = time.Second
	// leaveTime is what the processes below a dead one have to go by
	// themselves: helpers that end with their parent, such as the one of
	// Python's multiprocessing, have not been left behind.
	leaveTime = 100 * time.Millisecond
)

// step is how far the ladder came. The zero value is its foot. It is safe for
// concurrent use.
type step struct{ name atomic.Value }

func (s *step) set(name string) { s.name.Store(name) }

func (s *step) get() string {
	name, _ := s.name.Load().(string)
	return name
}

// Stop walks the stop ladder and returns when the process and all that it
// started are gone. The ladder: ask, which may be nil, has a second, and the
// process the rest of it to exit; the connection is closed; the group gets
// SIGTERM if the process catches it, else SIGINT if it catches that, else
// SIGTERM; after the grace it shows its stacks, if it can, and gets SIGKILL.
// Each step is left out when the process has exited. ask runs in a goroutine
// of its own and should return when its context ends.
//
// Ending ctx skips to SIGKILL, without stacks. Calls at the same time share
// one ladder, the first one's; later calls return the exit.
func (p *Process) Stop(ctx context.Context, ask func(ctx context.Context)) Exit {
	if ctx.Err() != nil {
		p.skip(false)
	}
	p.climb(ask)
	select {
	case <-p.done:
	case <-ctx.Done():
		p.skip(false)
		<-p.done
	}
	p.conn.Close()
	return p.exit
}

// Kill makes the process show its stacks, if it can, for at most 300 ms, kills
// it and all that it started, and returns when they are gone. It overtakes a
// ladder under way.
func (p *Process) Kill() Exit {
	p.skip(true)
	p.climb(nil)
	<-p.done
	p.conn.Close()
	return p.exit
}

// skip makes the ladder, under way or to come, go to the kill at once.
func (p *Process) skip(stacks bool) {
	if !stacks {
		p.noStacks.Store(true)
	}
	p.hurrying.Do(func() { close(p.hurry) })
}

// climb starts the ladder, once.
func (p *Process) climb(ask func(context.Context)) {
	p.stopping.Do(func() { go p.ladder(ask) })
}

func (p *Process) ladder(ask func(context.Context)) {
	if p.wentWithin(0) {
		return
	}
	p.stopped.Store(true)
	p.throttle.end(p.tree) // a stopped process could not act on anything
	if ask != nil && p.askAndWait(ask) {
		return
	}
	// In a hurry it keeps its connection: else the stacks would show what it does at
	// its end.
	if !p.hurried() {
		if p.conn != nil {
			p.step.set("closed")
			p.conn.Close()
		}
		signal, name := p.tree.polite()
		p.step.set(name) // before it, for the process may be dead right after it
		p.tree.terminate(signal)
		if p.wentWithin(p.spec.Grace) {
			return
		}
	}
	if !p.noStacks.Load() {
		p.dumpStacks()
	}
	p.killed.Store(true)
	p.tree.kill()
}

// askAndWait asks the process to go, and tells whether it went.
func (p *Process) askAndWait(ask func(context.Context)) bool {
	if p.hurried() {
		return false
	}
	ctx, cancel := context.WithTimeout(context.Background(), askTime)
	defer cancel()
	p.step.set("asked")
	end, _ := ctx.Deadline()
	go ask(ctx)
	return p.wentWithin(time.Until(end))
}

// wentWithin waits for the process's exit, at most d and not when in a hurry,
// and tells whether it came.
func (p *Process) wentWithin(d time.Duration) bool {
	select {
	case <-p.died:
		return true
	default:
	}
	if d <= 0 {
		return false
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-p.died:
		return true
	case <-p.hurry:
		return false
	case <-t.C:
		return false
	}
}

func (p *Process) hurried() bool {
	select {
	case <-p.hurry:
		return true
	default:
		return false
	}
}
