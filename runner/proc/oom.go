package proc

import (
	"bytes"
	"strconv"
)

// oomCounts are how many processes the system has killed because memory ran out: on
// the whole machine, and in our control groups. -1 is unknown.
type oomCounts []int64

// oomKilled reports whether the system killed a process between two counts.
func oomKilled(before, after oomCounts) bool {
	if len(before) != len(after) {
		return false
	}
	for i := range after {
		if before[i] >= 0 && after[i] > before[i] {
			return true
		}
	}
	return false
}

// oomKill reads the line "oom_kill N" of vmstat, memory.events or memory.oom_control;
// it returns -1 without one.
func oomKill(text []byte) int64 {
	for line := range bytes.Lines(text) {
		if rest, ok := bytes.CutPrefix(line, []byte("oom_kill ")); ok {
			n, err := strconv.ParseUint(string(bytes.TrimSpace(rest)), 10, 63)
			if err != nil {
				return -1
			}
			return int64(n)
		}
	}
	return -1
}
