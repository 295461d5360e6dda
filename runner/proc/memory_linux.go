package proc

import (
	"bytes"
	"os"
	"strconv"
)

// canLimit reports that this system can measure memory.
func canLimit() error { return nil }

// members lists the living processes of the tree: the leader, its orphans, and everything
// below them. A worker that the leader forked for us is its own tree.
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

// memoryAtMost is the resident memory of the tree. It counts shared memory in each process.
func (t *tree) memoryAtMost() (bytes int64) {
	for _, pid := range t.members() {
		resident, _ := pagesOf(pid)
		bytes += resident
	}
	return bytes
}

// memory is the resident memory of the tree. It divides shared memory among its users.
func (t *tree) memory() (bytes int64) {
	for _, pid := range t.members() {
		bytes += memoryOf(pid)
	}
	return bytes
}

// memoryOf is the memory of one process: its proportional share. For processes of other
// users the system does not report that, so memoryOf returns the unshared memory.
func memoryOf(pid int) int64 {
	if pss := statusLine(procFile(pid, "smaps_rollup"), "Pss:"); pss != nil {
		return kilobytes(pss)
	}
	resident, shared := pagesOf(pid)
	return resident - shared
}

// pagesOf reads /proc/PID/statm: the size, what is resident, and what of that is
// shared, in pages. It returns bytes.
func pagesOf(pid int) (resident, shared int64) {
	fields := bytes.Fields(procFile(pid, "statm"))
	if len(fields) < 3 {
		return 0, 0
	}
	resident, _ = strconv.ParseInt(string(fields[1]), 10, 64)
	shared, _ = strconv.ParseInt(string(fields[2]), 10, 64)
	page := int64(os.Getpagesize())
	return resident * page, shared * page
}

// oomKills is how many processes the system has killed because memory ran out, on the
// whole machine; 0 if it does not report that.
func oomKills() int64 {
	text, _ := os.ReadFile("/proc/vmstat")
	n, _ := strconv.ParseInt(string(statusLine(text, "oom_kill ")), 10, 64)
	return n
}
