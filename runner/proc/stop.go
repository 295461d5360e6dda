package proc

import (
	"context"
	"time"
)

// askTime is what a process has to go when it was asked by word.
const askTime = time.Second

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
	if ask != nil && p.askAndWait(ask) {
		return
	}
	p.conn.Close()
	if !p.hurried() {
		p.tree.terminate()
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
