//go:build linux || darwin

package proc

import (
	"strconv"
	"time"
)

// maxLeftovers is how many of the processes that were left behind Exit names.
const maxLeftovers = 10

func leftover(name string, pid int) string { return name + " (pid " + strconv.Itoa(pid) + ")" }

// leftovers names what a dead leader left behind, before it is killed. What exits by
// itself within leaveTime was not left behind. It returns at once if there is
// nothing, as usual, and stops waiting once force is closed.
func (t *tree) leftovers(force <-chan struct{}) []string {
	limit := time.NewTimer(leaveTime)
	defer limit.Stop()
	last := false
	for pause := time.Millisecond; ; pause *= 2 {
		left, certain := t.survivors()
		if len(left) == 0 && !certain {
			left, _ = t.survivors()
		}
		if len(left) == 0 || last {
			return left
		}
		select {
		case <-time.After(pause):
		case <-limit.C:
			last = true
		case <-force:
			last = true
		}
	}
}
