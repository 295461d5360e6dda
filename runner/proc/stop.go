package proc

import (
	"bytes"
	"context"
	"time"
)

const (
	// askTime is how long a process has to exit when it was asked by word.
	askTime = time.Second
	// leaveTime is how long the processes below a dead one have to exit by
	// themselves. Helpers that end with their parent, such as the resource tracker of
	// Python's multiprocessing, were not left behind.
	leaveTime = 100 * time.Millisecond
)

// Stop walks the stop ladder and returns when the process and everything that it
// started is gone. The ladder: ask, which may be nil, has a second, and the process
// the rest of it to exit; the connection is closed; the group gets SIGTERM if the
// process catches it, else SIGINT if it catches that, else SIGTERM; after the grace
// period it prints its stacks, if it can, and gets SIGKILL. The ladder ends when the
// process has exited. ask runs in a goroutine of its own and should return when its
// context ends. It returns false if the process cannot be asked, so that the ladder
// goes on at once.
//
// Ending ctx skips to SIGKILL, without stacks. Concurrent calls share one ladder, the
// first one's; later calls return the exit.
func (p *Process) Stop(ctx context.Context, ask func(ctx context.Context) bool) Exit {
	if ctx.Err() != nil {
		p.forceStop(false)
	}
	p.startLadder(ask)
	select {
	case <-p.done:
	case <-ctx.Done():
		p.forceStop(false)
		<-p.done
	}
	p.conn.Close()
	return p.exit
}

// Kill makes the process print its stacks, if it can, for at most 300 ms, kills it and
// everything that it started, and returns when they are gone. It shortens a ladder in
// progress.
func (p *Process) Kill() Exit {
	p.forceStop(true)
	p.startLadder(nil)
	<-p.done
	p.conn.Close()
	return p.exit
}

// forceStop makes the ladder, in progress or to come, skip to the kill.
func (p *Process) forceStop(stacks bool) {
	if !stacks {
		p.noStacks.Store(true)
	}
	p.force()
}

func (p *Process) startLadder(ask func(context.Context) bool) {
	p.stopOnce.Do(func() { go p.ladder(ask) })
}

func (p *Process) ladder(ask func(context.Context) bool) {
	if p.Exited() {
		return
	}
	p.stopped.Store(true)
	if ask != nil && p.forced.Err() == nil && p.askToExit(ask) {
		return
	}
	// A process that is killed keeps its connection: else its stacks would show how it
	// reacts to the end of that.
	if p.forced.Err() == nil {
		if p.conn != nil {
			p.step.Store("closed")
			p.conn.Close()
		}
		signal, name := p.tree.terminationSignal()
		p.step.Store(name) // before the signal, after which the process may be dead
		p.tree.terminate(signal)
		if p.exitsWithin(p.spec.Grace) {
			return
		}
	}
	if !p.noStacks.Load() {
		p.dumpStacks()
	}
	p.killed.Store(true)
	p.tree.kill()
}

// askToExit asks the process to exit, and reports whether it did.
func (p *Process) askToExit(ask func(context.Context) bool) bool {
	ctx, cancel := context.WithTimeout(p.forced, askTime)
	defer cancel()
	p.step.Store("asked")
	go func() { // ends when ask returns
		if !ask(ctx) {
			cancel()
		}
	}()
	return p.exitsBefore(ctx)
}

// Exited reports whether the process has exited. What it started may still be there:
// Done is closed later.
func (p *Process) Exited() bool {
	select {
	case <-p.died:
		return true
	default:
		return false
	}
}

// Exiting reports whether the process may have begun to exit, which it does before the
// system closes its sockets.
func (p *Process) Exiting() bool { return p.tree.exiting() }

// exitsWithin waits at most d for the process to exit, and not when it is to be
// killed.
func (p *Process) exitsWithin(d time.Duration) bool {
	ctx, cancel := context.WithTimeout(p.forced, d)
	defer cancel()
	return p.exitsBefore(ctx)
}

// exitsBefore reports whether the process exits before ctx ends.
func (p *Process) exitsBefore(ctx context.Context) bool {
	select {
	case <-p.died:
		return true
	case <-ctx.Done():
		return p.Exited()
	}
}

const (
	// stackWait bounds the wait for stacks; stackQuiet is the silence that ends them.
	stackWait  = 300 * time.Millisecond
	stackQuiet = 30 * time.Millisecond
)

// stackStarts are the beginnings of the lines that Python's faulthandler writes.
var stackStarts = [][]byte{
	[]byte("Thread 0x"),
	[]byte("Current thread 0x"),
	[]byte("Current thread's C stack trace"),
	[]byte(`  File "`),
	[]byte(`  Binary file "`),
	[]byte("  ..."),
	[]byte("  <"), // <no Python frame>, <truncated rest of calls>
	[]byte("  Garbage-collecting"),
}

// isStack reports whether line belongs to faulthandler's stacks. If a line before did
// (inside), a blank line does, too.
func isStack(line []byte, inside bool) bool {
	if len(line) == 0 {
		return inside
	}
	for _, start := range stackStarts {
		if bytes.HasPrefix(line, start) {
			return true
		}
	}
	return false
}

// dumpStacks makes a hung Python print its stacks, and waits for them, if it can.
func (p *Process) dumpStacks() {
	if p.spec.StackSignal == 0 || !p.tree.catches(p.spec.StackSignal) {
		return
	}
	dumped := p.output.expectStacks()
	if p.tree.signal(p.spec.StackSignal) != nil {
		return
	}
	limit := time.NewTimer(stackWait)
	defer limit.Stop()
	silence := (<-chan time.Time)(nil)
	for {
		select {
		case <-dumped:
			silence = time.After(stackQuiet)
		case <-silence:
			return
		case <-limit.C:
			return
		case <-p.died:
			return
		}
	}
}
