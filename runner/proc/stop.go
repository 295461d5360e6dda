package proc

import (
	"bytes"
	"context"
	"errors"
	"syscall"
	"time"
)

const (
	// askTime is the minimum of [Spec].AskTime.
	askTime = time.Second
	// leaveTime is how long the processes below a dead one may take to exit by themselves. It is
	// enough for processes that end with their parent, such as the resource tracker of Python's
	// multiprocessing.
	leaveTime = 100 * time.Millisecond
)

// Stop walks the stop ladder and returns when the process and everything that it started are gone.
// The ladder ends when the process has exited. Its steps are:
//
//  1. Stop calls ask, unless it is nil. The process has its AskTime to exit.
//  2. Stop closes the connection and sends SIGTERM to the group if the process catches it,
//     otherwise SIGINT if it catches that, otherwise SIGTERM. The process has its grace period to
//     exit. On Windows, which has no signals, a process has no grace period if it cannot be asked
//     and has no connection.
//  3. The process prints its stacks, if it can, and the group gets SIGKILL.
//
// ask runs in its own goroutine and should return when its context ends. If it returns false, the
// process cannot be asked, and the ladder continues at once.
//
// If ctx ends, Stop skips to SIGKILL, without stacks. Concurrent calls share the ladder of the
// first call. Later calls return the exit.
func (p *Process) Stop(ctx context.Context, ask func(ctx context.Context) bool) Exit {
	if ctx.Err() != nil {
		p.forceStop(false)
	}
	defer context.AfterFunc(ctx, func() { p.forceStop(false) })()
	return p.stop(ask)
}

// Kill makes the process print its stacks, if it can, for at most 300 ms. Then it kills the process
// and everything that it started, and returns when they are gone. It shortens a ladder in progress.
func (p *Process) Kill() Exit {
	p.forceStop(true)
	return p.stop(nil)
}

// stop starts the ladder unless it was started, and returns when the process and everything that it
// started are gone.
func (p *Process) stop(ask func(context.Context) bool) Exit {
	p.stopOnce.Do(func() { go p.ladder(ask) })
	<-p.done
	p.conn.Close()
	return p.exit
}

// forceStop makes the ladder skip to the kill, even if it has not started yet.
func (p *Process) forceStop(stacks bool) {
	if !stacks {
		p.noStacks.Store(true)
	}
	p.force()
}

func (p *Process) ladder(ask func(context.Context) bool) {
	if p.Exited() || showsExiting && p.Exiting() && p.exitsWithin(askTime) { // the process exits by itself
		return
	}
	p.stopped.Store(true)
	began, reached := time.Now(), false
	if ask != nil && p.forced.Err() == nil {
		if reached = p.askToExit(ask); p.Exited() {
			return
		}
	}
	// Before a kill the connection stays open, so that the stacks show what the process was doing,
	// not its reaction to the end of the connection.
	if p.forced.Err() == nil {
		if p.conn != nil {
			p.step.Store("closed")
			p.conn.Close()
			reached = true
		}
		if signal, name := p.tree.terminationSignal(); name != "" {
			p.step.Store(name) // before the signal, because the process may be dead after it
			p.tree.terminate(signal)
			reached = true
		}
		left := max(p.spec.Grace-max(0, time.Since(began)-askTime), askTime)
		if reached && p.exitsWithin(min(left, p.spec.Grace)) {
			return
		}
	}
	if !p.noStacks.Load() {
		p.dumping.Lock()
		p.dumpStacks()
		p.dumping.Unlock()
	}
	p.killed.Store(true)
	p.tree.kill()
}

// askToExit asks the process to exit, and waits. It returns false if the process cannot be asked.
func (p *Process) askToExit(ask func(context.Context) bool) bool {
	ctx, cancel := context.WithTimeout(p.forced, max(p.spec.AskTime, askTime))
	defer cancel()
	p.step.Store("asked")
	go func() { // ends when ask returns
		if !ask(ctx) {
			cancel()
		}
	}()
	p.exitsBefore(ctx)
	return !errors.Is(ctx.Err(), context.Canceled)
}

// Exited reports whether the process has exited. Its descendants may still run. Done is closed
// later.
func (p *Process) Exited() bool {
	select {
	case <-p.died:
		return true
	default:
		return false
	}
}

// Exiting reports whether the process may have begun to exit. That happens before the system closes
// its sockets.
func (p *Process) Exiting() bool { return p.tree.exiting() }

// MainExited reports whether the main thread of the process has exited. Other threads may keep the
// process alive. Only Linux reports that.
func (p *Process) MainExited() bool { return showsExiting && p.tree.exiting() }

// exitsWithin reports whether the process exits within d. It stops waiting when the ladder is
// forced.
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
	// stackWait limits the wait for stacks. stackQuiet is the silence that ends the wait.
	stackWait  = 300 * time.Millisecond
	stackQuiet = 30 * time.Millisecond
)

// stackStarts lists the beginnings of lines of Python's faulthandler.
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

// isStack reports whether line belongs to faulthandler's stacks. After such a line (inside), a
// blank line belongs to them, too.
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

// Stacks makes the process print its Python stacks, if it can, and returns their lines. It
// takes at most 300 ms. The process continues.
func (p *Process) Stacks() []string {
	p.dumping.Lock()
	defer p.dumping.Unlock()
	if p.stopped.Load() { // the ladder may be printing the stacks for Exit
		return nil
	}
	p.dumpStacks()
	return p.output.takeStacks()
}

// dumpStacks makes a hung Python print its stacks, and waits for them, if it can.
// p.dumping is held.
func (p *Process) dumpStacks() {
	if p.spec.StackSignal == 0 || !p.tree.catches(p.spec.StackSignal) {
		return
	}
	dumped := p.output.expectStacks()
	if p.tree.signal(syscall.Signal(p.spec.StackSignal)) != nil {
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
