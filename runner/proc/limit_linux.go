package proc

import (
	"bytes"
	"os"
	"slices"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// canLimit tells that this system can hold a process to limits.
func canLimit() error { return nil }

// usage is what /proc/PID/stat tells of a process.
type usage struct {
	group  int
	reaped time.Duration // CPU time of its children that are gone
	own    time.Duration // CPU time of its own, to the next 10 ms
	rss    int64         // bytes that are resident
}

// usageOf reads it; false when the process is gone.
func usageOf(pid int) (u usage, ok bool) {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return u, false
	}
	return parseUsage(stat)
}

// parseUsage reads the fields of /proc/PID/stat. Those after the name in
// parentheses, which may hold anything, begin with the state, the parent and the
// group; after eight more come four times, and after six more the size and what is
// resident of it.
func parseUsage(stat []byte) (u usage, ok bool) {
	const group, times, resident = 2, 11, 21
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) <= resident {
		return u, false
	}
	number := func(at int) int64 {
		n, _ := strconv.ParseInt(string(fields[at]), 10, 64)
		return n
	}
	const tick = time.Second / 100 // on every system
	u.group = int(number(group))
	u.own = time.Duration(number(times)+number(times+1)) * tick
	u.reaped = time.Duration(number(times+2)+number(times+3)) * tick
	u.rss = number(resident) * int64(os.Getpagesize())
	return u, true
}

// members lists the leader and all that it started, as far as it lives: what is
// below the leader, and the orphans that came to us, with what is below them. What
// it forked for us is not its own.
func (t *tree) members() []int {
	pids := []int{t.pid}
	for _, pid := range orphans() {
		if pid != t.pid && !held.leads(pid) && t.owns(pid) {
			pids = append(pids, pid)
		}
	}
	for i := 0; i < len(pids); i++ { // it grows
		below, _ := childrenOf(strconv.Itoa(pids[i]))
		pids = append(pids, slices.DeleteFunc(below, held.leads)...)
	}
	return pids
}

// orphans lists those of our children that the system may have handed us: they
// become the first thread's, to which no child of our own is lost either.
func orphans() []int {
	self := strconv.Itoa(os.Getpid())
	text, err := os.ReadFile("/proc/self/task/" + self + "/children")
	if err != nil {
		return children()
	}
	var pids []int
	for field := range bytes.FieldsSeq(text) {
		if pid, err := strconv.Atoi(string(field)); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// memoryAtMost is what the tree has resident, shared memory counted as often as
// it is shared.
func (t *tree) memoryAtMost() (bytes int64) {
	for _, pid := range t.members() {
		u, _ := usageOf(pid)
		bytes += u.rss
	}
	return bytes
}

// memory is what the tree has resident, shared memory counted by its share.
func (t *tree) memory() (bytes int64) {
	for _, pid := range t.members() {
		bytes += memoryOf(pid)
	}
	return bytes
}

// memoryOf is the memory of one process: its share, which the system has to add
// up and does not tell of processes of other users; then what it has to itself, by
// a count that takes memory for its own that it has since its fork.
func memoryOf(pid int) int64 {
	dir := "/proc/" + strconv.Itoa(pid)
	if text, err := os.ReadFile(dir + "/smaps_rollup"); err == nil {
		if kib, ok := bytes.CutSuffix(statusLine(text, "Pss:"), []byte(" kB")); ok {
			n, _ := strconv.ParseInt(string(kib), 10, 64)
			return n << 10
		}
	}
	text, _ := os.ReadFile(dir + "/statm") // in pages: the size, what is resident, what of that is shared
	fields := bytes.Fields(text)
	if len(fields) < 3 {
		return 0
	}
	resident, _ := strconv.ParseInt(string(fields[1]), 10, 64)
	shared, _ := strconv.ParseInt(string(fields[2]), 10, 64)
	return (resident - shared) * int64(os.Getpagesize())
}

// cpu is the CPU time that the group took so far: of its members, and of those
// that they started and that are gone.
func (t *tree) cpu() (total time.Duration) {
	for _, pid := range t.members() {
		u, ok := usageOf(pid)
		if !ok || u.group != t.pid && pid != t.pid {
			continue
		}
		total += u.reaped
		var exact unix.Timespec
		if unix.ClockGettime(clockOf(pid), &exact) == nil {
			total += time.Duration(exact.Nano())
		} else {
			total += u.own
		}
	}
	return total
}

// clockOf is the clock of a process's CPU time, as the kernel numbers clocks: the
// process's number inverted, and the kind of clock in the three low bits.
func clockOf(pid int) int32 {
	const sched = 2 // CPUCLOCK_SCHED, of all threads
	return int32(^pid<<3 | sched)
}

// suspend stops the group, and the leader should it have left it.
func (t *tree) suspend() error {
	t.send(-t.pid, syscall.SIGSTOP)
	return t.send(t.pid, syscall.SIGSTOP)
}

// resume continues them.
func (t *tree) resume() {
	t.send(-t.pid, syscall.SIGCONT)
	t.send(t.pid, syscall.SIGCONT)
}
