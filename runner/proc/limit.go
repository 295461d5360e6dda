package proc

import (
	"fmt"
	"math"
	"strconv"
	"time"
)

// Limits bound what a process and all that it started take of the machine. The
// zero value bounds nothing. [Limits.Check] tells whether this system can hold
// them.
//
// They are held by looking ten times a second and by signals, not by the system: who
// takes more for less than that is not seen. Control groups would see it, but only a
// pyplug that was given one of its own could make one for a process.
type Limits struct {
	// Memory is how many bytes may be resident, memory that is shared with
	// others counted by its share; 0 is any number. When there are more, all is
	// killed, and [Exit] says so.
	Memory int64
	// CPU is how many cores may be busy on average, 0.5 for half of one; 0 is
	// any number. When there are more, the group is stopped now and then, for a
	// second at most, by SIGSTOP and SIGCONT. What left the group is neither
	// counted nor stopped.
	CPU float64
}

// minCPU is the least that a process can be held to: with less, its interpreter
// would take minutes to start.
const minCPU = 0.01

// Check says why the limits cannot be held, nil when they can. An error that is
// [errors.ErrUnsupported] is about this system; others are about the values.
func (l Limits) Check() error {
	switch {
	case l.Memory < 0:
		return fmt.Errorf("the memory limit is %d bytes, want a positive number", l.Memory)
	case l.CPU < 0, l.CPU > 0 && l.CPU < minCPU, math.IsNaN(l.CPU), math.IsInf(l.CPU, 0):
		return fmt.Errorf("the CPU limit is %v cores, want %v or more", l.CPU, minCPU)
	case l != Limits{}:
		return canLimit()
	}
	return nil
}

// lookEvery is the pace at which a limited process is looked at.
const lookEvery = 100 * time.Millisecond

// hold starts to hold the process to its limits, until it is dead.
func (p *Process) hold() {
	if p.spec.Limits.Memory > 0 {
		p.holding.Go(p.holdMemory)
	}
	if p.spec.Limits.CPU > 0 {
		p.holding.Go(p.holdCPU)
	}
}

// holdMemory kills the process and what it started once they take more memory
// than they may. An exact look takes its time, so that it is taken only when the
// cheap one, which never says too little, does not do; then the next look waits,
// so that looking takes at most a twentieth of a core.
func (p *Process) holdMemory() {
	limit := p.spec.Limits.Memory
	for pause := lookEvery; !p.deadWithin(pause); {
		pause = lookEvery
		if p.tree.memoryAtMost() <= limit {
			continue
		}
		began := time.Now()
		if used := p.tree.memory(); used > limit {
			p.exceed(fmt.Sprintf("memory limit of %s: it used %s", megabytes(limit), megabytes(used)))
			return
		}
		pause = max(pause, 20*time.Since(began))
	}
}

// deadWithin waits for the process's death, at most d, and tells whether it came.
func (p *Process) deadWithin(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-p.died:
		return true
	case <-timer.C:
		return false
	}
}

// exceed kills the process and what it started, unless it is dead or about to be
// killed for another reason.
func (p *Process) exceed(limit string) {
	if p.killed.Load() || p.wentWithin(0) {
		return
	}
	p.exceeded.Store(&limit)
	p.tree.kill()
	p.skip(false) // nothing is waited for that goes on taking memory
}

// Memory is how many bytes a process that Start started and all that it started
// have resident, memory that is shared with others counted by its share. It is not
// ok when there is no such process, and where the system does not tell. It takes
// about 10 µs for each MB.
func Memory(pid int) (bytes int64, ok bool) {
	p := held.leader(pid)
	if p == nil {
		return 0, false
	}
	bytes = p.tree.memory()
	return bytes, bytes > 0
}

// megabytes is a number of bytes in MB of 1024 KB, as limits are given.
func megabytes(n int64) string {
	mb := float64(n) / (1 << 20)
	if mb >= 10 {
		mb = math.Round(mb)
	} else {
		mb = math.Round(10*mb) / 10
	}
	return strconv.FormatFloat(mb, 'f', -1, 64) + " MB"
}
