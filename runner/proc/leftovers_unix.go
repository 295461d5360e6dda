//go:build linux || darwin

package proc

import (
	"context"
	"strconv"
	"time"
)

// maxLeftovers is how many of the processes that were left behind Exit names.
const maxLeftovers = 10

func leftover(name string, pid int) string { return name + " (pid " + strconv.Itoa(pid) + ")" }

// leftovers names what a dead leader left behind, before it is killed. What exits by
// itself within leaveTime was not left behind. It returns at once if there is
// nothing, as usual, and stops waiting once forced ends.
func (t *tree) leftovers(forced context.Context) []string {
	forced, cancel := context.WithTimeout(forced, leaveTime)
	defer cancel()
	for pause := time.Millisecond; ; pause *= 2 {
		last := forced.Err() != nil
		left, certain := t.survivors()
		if len(left) == 0 && !certain {
			left, _ = t.survivors()
		}
		if len(left) == 0 || last {
			return left
		}
		select {
		case <-time.After(pause):
		case <-forced.Done():
		}
	}
}
