package proc

import (
	"bytes"
	"time"
)

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
