package proc

import "bytes"

// oomCounts are how many processes the system has killed for want of memory:
// on the whole machine, and in our control groups. -1 where it does not tell.
type oomCounts []int64

// outOfMemory judges a death by SIGKILL by the counts before and after.
func outOfMemory(byUs bool, before, after oomCounts) bool {
	if byUs || len(before) != len(after) {
		return false
	}
	for i := range after {
		if before[i] >= 0 && after[i] > before[i] {
			return true
		}
	}
	return false
}

// oomKill finds the line "oom_kill N", as vmstat, memory.events and
// memory.oom_control have it; -1 without one.
func oomKill(text []byte) int64 {
	for line := range bytes.Lines(text) {
		rest, ok := bytes.CutPrefix(line, []byte("oom_kill "))
		if !ok {
			continue
		}
		n := int64(0)
		for _, c := range bytes.TrimSpace(rest) {
			if c < '0' || c > '9' {
				return -1
			}
			n = n*10 + int64(c-'0')
		}
		return n
	}
	return -1
}
