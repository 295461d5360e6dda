package proc

import (
	"bytes"
	"os"
	"strconv"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pyplug/pyplug/runner/proc/guard"
)

// Lacks says what this system cannot do of what the package promises; "" when
// it can do all.
func Lacks() string { return "" }

const (
	rssUnit     = 1024 // of rusage's Maxrss, in bytes
	tellsGroups = false
	// sweepTime bounds the sweep: a process that cannot die, because it waits
	// for a disk, must not keep us for ever.
	sweepTime = 5 * time.Second
)

// prepare makes us the parent of orphans, so that what a plugin leaves behind
// comes to us, and keeps what we were started with from being inherited.
var prepare = sync.OnceFunc(func() {
	unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
	unix.CloseRange(3, ^uint(0)>>1, unix.CLOSE_RANGE_CLOEXEC)
})

func rawPipe() (r, w int, err error) {
	var p [2]int
	err = syscall.Pipe2(p[:], syscall.O_CLOEXEC)
	return p[0], p[1], err
}

// mark gives the leader the mark that stays when the environment is cleared.
// A limit that is there already is left alone: an administrator's, or the mark
// of a pyplug that runs us, which then sees all that is ours.
func (t *tree) mark() {
	unmarked := uint64(unix.RLIM_INFINITY)
	if t.forked != nil {
		unmarked = held.run.Limit(t.forked.by.tree.n)
	}
	if limit := realTimeLimit(t.pid); limit.Cur == unmarked && limit.Max == unix.RLIM_INFINITY {
		limit.Cur = held.run.Limit(t.n)
		unix.Prlimit(t.pid, unix.RLIMIT_RTTIME, &limit, nil)
	}
}

// conceal takes from our guard the mark of a pyplug that runs us, which would
// kill it before it has cleaned up after us. The guard takes the mark again
// when it is done, so that the other one reaps it.
func (s *sentry) conceal() {
	if limit := realTimeLimit(s.pid); limit.Cur != unix.RLIM_INFINITY && limit.Max == unix.RLIM_INFINITY {
		s.tell(guard.Mark + strconv.FormatUint(limit.Cur, 10))
		limit.Cur = unix.RLIM_INFINITY
		unix.Prlimit(s.pid, unix.RLIMIT_RTTIME, &limit, nil)
	}
}

// realTimeLimit is the limit that holds the mark; zero when it is not told.
func realTimeLimit(pid int) (limit unix.Rlimit) {
	unix.Prlimit(pid, unix.RLIMIT_RTTIME, nil, &limit)
	return limit
}

// ownMemory is the most memory we had resident, in bytes. A child's figure
// begins there, since it shares our memory until it executes its program.
func ownMemory() int64 {
	status, _ := os.ReadFile("/proc/self/status")
	fields := bytes.Fields(statusLine(status, "VmHWM:"))
	if len(fields) == 0 {
		return 0
	}
	kib, _ := strconv.ParseInt(string(fields[0]), 10, 64)
	return kib << 10
}

// statusLine finds the line of /proc/PID/status that begins with name.
func statusLine(status []byte, name string) []byte {
	for line := range bytes.Lines(status) {
		if rest, ok := bytes.CutPrefix(line, []byte(name)); ok {
			return bytes.TrimSpace(rest)
		}
	}
	return nil
}

// awaitDeath blocks until the leader has exited, and leaves it a zombie, so
// that its number stays its own.
func (t *tree) awaitDeath() {
	if t.forked != nil {
		t.forked.awaitDeath()
		return
	}
	for unix.Waitid(unix.P_PID, t.pid, nil, unix.WEXITED|unix.WNOWAIT, nil) == unix.EINTR {
	}
}

// fell ends what a dead leader left behind, and reaps all of it.
func (t *tree) fell(hurry <-chan struct{}) ending {
	left := t.left(hurry)
	t.send(-t.pid, syscall.SIGKILL)
	t.sweep()
	end := t.reap()
	end.left = left
	return end
}

// catches tells whether the leader handles signal sig.
func (t *tree) catches(sig int) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.reaped || sig < 1 || sig > 64 {
		return false
	}
	status, _ := os.ReadFile("/proc/" + strconv.Itoa(t.pid) + "/status")
	bits, err := strconv.ParseUint(string(statusLine(status, "SigCgt:")), 16, 64)
	return err == nil && bits>>(sig-1)&1 == 1
}

// heeds tells whether the leader would handle signal sig now: it catches it, and has
// a thread that neither blocks it nor is stopped.
func (t *tree) heeds(sig int) bool {
	if !t.catches(sig) {
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	tasks := "/proc/" + strconv.Itoa(t.pid) + "/task"
	threads, _ := os.ReadDir(tasks)
	for _, thread := range threads {
		status, _ := os.ReadFile(tasks + "/" + thread.Name() + "/status")
		blocked, err := strconv.ParseUint(string(statusLine(status, "SigBlk:")), 16, 64)
		state := bytes.ToUpper(statusLine(status, "State:")) // "T (stopped)", "t (tracing stop)"
		if err == nil && blocked>>(sig-1)&1 == 0 && !bytes.HasPrefix(state, []byte("T")) {
			return true
		}
	}
	return false
}

// sweep kills and reaps those of our children that belong to the tree: its
// orphans, which come to us as parents die. Each may bring its own children
// when it dies, and one look may miss what moves meanwhile, hence looks until
// two in a row find nothing.
func (t *tree) sweep() {
	end := time.Now().Add(sweepTime)
	for clean := 0; clean < 2 && time.Now().Before(end); {
		clean++
		for _, pid := range children() {
			switch {
			case pid == t.pid || held.leads(pid): // one that was forked is ours when its parent is gone
			case t.owns(pid):
				clean = 0
				syscall.Kill(pid, syscall.SIGKILL)
				reapBy(pid, end)
			default:
				reapOrphan(pid)
			}
		}
	}
}

// owns tells whether our child pid is of this tree. It cannot be mistaken:
// until the leader is reaped nobody else's group has its number.
func (t *tree) owns(pid int) bool {
	if group, err := syscall.Getpgid(pid); err == nil && group == t.pid {
		return true
	}
	return guard.Marked(pid, held.run, t.n)
}

// reapOrphan reaps our child pid if it is dead and was started by a process of
// ours: as its adoptive parent only we can. Leaders reap themselves; while one
// is being started it cannot be told from an orphan, and the next look does.
func reapOrphan(pid int) {
	if !held.planting.TryLock() {
		return
	}
	defer held.planting.Unlock()
	if !held.leads(pid) && guard.Marked(pid, held.run, 0) {
		syscall.Wait4(pid, nil, syscall.WNOHANG, nil)
	}
}

// reapOrphans reaps all of these.
func reapOrphans() {
	for _, pid := range children() {
		reapOrphan(pid)
	}
}

// reapBy reaps a killed child as soon as it is dead, or gives up at end.
func reapBy(pid int, end time.Time) {
	for pause := 20 * time.Microsecond; ; pause = min(2*pause, 5*time.Millisecond) {
		got, err := syscall.Wait4(pid, nil, syscall.WNOHANG, nil)
		if err == syscall.EINTR {
			continue
		}
		if got == pid || err != nil || time.Now().After(end) {
			return
		}
		time.Sleep(pause)
	}
}

// children lists our children, dead ones too.
func children() []int {
	pids, told := childrenOf("self")
	if !told {
		return childrenByParent()
	}
	return pids
}

// childrenOf lists the children of a process, named as in /proc. The system
// tells them only of a process that is there, and if it was built for that.
func childrenOf(process string) (pids []int, told bool) {
	tasks, err := os.ReadDir("/proc/" + process + "/task")
	if err != nil {
		return nil, false
	}
	for i, task := range tasks {
		text, err := os.ReadFile("/proc/" + process + "/task/" + task.Name() + "/children")
		if err != nil && i == 0 {
			return nil, false
		}
		for field := range bytes.FieldsSeq(text) {
			if pid, err := strconv.Atoi(string(field)); err == nil {
				pids = append(pids, pid)
			}
		}
	}
	return pids, true
}

// childrenByParent asks every process for its parent, for kernels that were
// built without the lists of children.
func childrenByParent() []int {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	var pids []int
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		stat, _ := os.ReadFile("/proc/" + name + "/stat")
		// The fields after the name in parentheses: the state, the parent.
		fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
		if len(fields) < 2 {
			continue
		}
		if parent, err := strconv.Atoi(string(fields[1])); err == nil && parent == os.Getpid() {
			pids = append(pids, pid)
		}
	}
	return pids
}

// ourselves is our executable, even when its file was replaced or removed.
func ourselves() string { return "/proc/self/exe" }
