package proc

import (
	"bytes"
	"time"
)

const (
	// stackWait bounds the wait for stacks, stackQuiet is the silence after
	// them that counts as their end.
	stackWait  = 300 * time.Millisecond
	stackQuiet = 30 * time.Millisecond
)

// stackStarts is how the lines begin that Python's faulthandler writes.
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

// headEnd is how the first line of a thread's stack ends.
var headEnd = []byte("(most recent call first):")

// stackHead is where a stack begins in a line that the process had begun before: at
// its end when none does.
func stackHead(line []byte) int {
	if !bytes.HasSuffix(line, headEnd) {
		return len(line)
	}
	for _, start := range [][]byte{[]byte("Current thread 0x"), []byte("Thread 0x")} {
		if at := bytes.LastIndex(line, start); at >= 0 {
			return at
		}
	}
	return len(line)
}

// isStack tells whether line belongs to faulthandler's stacks; inside tells
// that one before it did, and then a blank line does too.
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

// dumpStacks makes a hung Python show where it is, and waits until it has. One that
// could not do so is not waited for.
func (p *Process) dumpStacks() {
	if p.spec.StackSignal == 0 || !p.tree.canHandle(p.spec.StackSignal) {
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
