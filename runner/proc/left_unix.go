//go:build linux || darwin

package proc

import (
	"strconv"
	"time"
)

// mostLeft is how many processes are told that were left behind.
const mostLeft = 10

func leftover(name string, pid int) string { return name + " (pid " + strconv.Itoa(pid) + ")" }

// left names what a dead leader left behind, before that is killed: what goes
// by itself within leaveTime was not left. It returns at once when there is
// nothing, which is the rule, and it does not wait once hurry is closed.
func (t *tree) left(hurry <-chan struct{}) []string {
	limit := time.NewTimer(leaveTime)
	defer limit.Stop()
	last := false
	for pause := time.Millisecond; ; pause *= 2 {
		left, sure := t.survivors()
		if len(left) == 0 && !sure {
			left, _ = t.survivors()
		}
		if len(left) == 0 || last {
			return left
		}
		select {
		case <-time.After(pause):
		case <-limit.C:
			last = true
		case <-hurry:
			last = true
		}
	}
}
