package proc

import (
	"bytes"
	"os"
	"strconv"
	"time"
)

// canLimit returns nil, because this system can measure memory.
func canLimit() error { return nil }

// members lists the living processes of the tree: the leader, its orphans, and all their
// descendants. A worker that the leader forked on request has its own tree.
func (t *tree) members() []int {
	pids := []int{t.pid}
	t.eachOrphan(func(pid int) { pids = append(pids, pid) })
	for i := 0; i < len(pids); i++ { // pids grows
		below, _ := childrenOf(pids[i])
		for _, pid := range below {
			if running.find(pid) == nil {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}

// memoryAtMost returns the resident memory of the tree. It counts shared memory in each process.
func (t *tree) memoryAtMost() int64 { return t.sum(residentOf) }

// memory returns the resident memory of the tree. It divides shared memory among its users.
func (t *tree) memory() int64 { return t.sum(memoryOf) }

func (t *tree) sum(of func(pid int) int64) (total int64) {
	for _, pid := range t.members() {
		total += of(pid)
	}
	return total
}

// memoryOf returns the proportional share of one process. The system does not report the share for
// processes of other users, so for them it returns all resident memory.
func memoryOf(pid int) int64 {
	share, ok := bytes.CutSuffix(statusLine(procFile(pid, "smaps_rollup"), "Pss:"), []byte(" kB"))
	if !ok {
		return residentOf(pid)
	}
	kilobytes, _ := strconv.ParseInt(string(share), 10, 64)
	return kilobytes << 10
}

// residentOf returns the resident memory of a process in bytes, from the second field of
// /proc/PID/statm.
func residentOf(pid int) int64 {
	fields := bytes.Fields(procFile(pid, "statm"))
	if len(fields) < 2 {
		return 0
	}
	pages, _ := strconv.ParseInt(string(fields[1]), 10, 64)
	return pages * int64(os.Getpagesize())
}

// cpu is the processor time of the tree.
func (t *tree) cpu() time.Duration { return time.Duration(t.sum(cpuOf)) }

// cpuOf returns the processor time of a process and of its children that have ended, in
// nanoseconds.
func cpuOf(pid int) (used int64) {
	const tick, first, last = 10 * time.Millisecond, 11, 15 // the fields utime to cstime, counted after the name
	text := procFile(pid, "stat")
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	for _, field := range fields[min(first, len(fields)):min(last, len(fields))] {
		ticks, _ := strconv.ParseInt(string(field), 10, 64)
		used += ticks * int64(tick)
	}
	return used
}

// oomKills returns how many processes the system has killed because memory ran out, on the whole
// machine, or 0 if the system does not report that.
func oomKills() int64 {
	text, _ := os.ReadFile("/proc/vmstat")
	n, _ := strconv.ParseInt(string(statusLine(text, "oom_kill ")), 10, 64)
	return n
}
