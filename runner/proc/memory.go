package proc

import (
	"fmt"
	"time"
)

// CheckMaxMemory returns an error if a memory limit cannot be enforced. The limit 0 means no limit.
// The error wraps [errors.ErrUnsupported] if the system cannot enforce any limit.
func CheckMaxMemory(limit int64) error {
	switch {
	case limit < 0:
		return fmt.Errorf("the memory limit is %d bytes, expected a positive number", limit)
	case limit > 0:
		return canLimit()
	}
	return nil
}

// checkEvery is the interval at which the memory of a limited process is measured.
const checkEvery = 100 * time.Millisecond

// limitMemory kills the tree when it exceeds its memory limit. It first makes a fast measurement,
// which never reports too little. If that is above the limit, it makes the exact measurement, which
// is slow. Exact measurements use at most a twentieth of a core.
func (p *Process) limitMemory() {
	limit := p.spec.MaxMemory
	for pause := checkEvery; limit > 0 && !p.exitsWithin(pause) && p.forced.Err() == nil; {
		pause = checkEvery
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

// exceed kills the tree because of a limit, unless it is dead or being killed already.
func (p *Process) exceed(limit string) {
	if p.killed.Load() || p.Exited() {
		return
	}
	p.exceeded.Store(&limit)
	p.tree.kill()
	p.forceStop(false) // at once, because the tree may still allocate
}

// Memory returns the resident memory of a started process and its descendants, in bytes. Shared
// memory is divided among its users. Memory returns 0 if the process does not exist, or if the
// system does not report memory. It takes about 10 µs per MB.
func Memory(pid int) int64 {
	if p := running.find(pid); p != nil {
		return p.tree.memory()
	}
	return 0
}

// TotalMemory returns the memory of all processes that this pyplug runs, measured as in [Memory].
// It returns 0 if the system does not report memory.
func TotalMemory() (bytes int64) {
	for _, p := range running.processes() {
		bytes += p.tree.memory()
	}
	return bytes
}

// TotalCPU returns the processor time of all processes that this pyplug runs and of their ended
// children, or 0 if the system does not report it.
func TotalCPU() (used time.Duration) {
	for _, p := range running.processes() {
		used += p.tree.cpu()
	}
	return used
}

// megabytes returns a number of bytes as text, in MB of 1024 KB as limits are given.
func megabytes(n int64) string { return fmt.Sprintf("%d MB", n>>20) }
