package proc

import (
	"bytes"
	"os"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/pyplug/pyplug/runner/proc/guard"
)

// sweepTime bounds the sweep: a process that cannot die, because it waits for a disk,
// must not keep us for ever.
const sweepTime = 5 * time.Second

// startTime is how long starting a process usually takes at most.
const startTime = 50 * time.Millisecond

// sweep kills and reaps the orphans of the tree, which become our children when
// their parents die. Each may hand over its own children when it dies, and one pass
// may miss a process that moves, hence two passes in a row must find nothing.
func (t *tree) sweep() {
	end := time.Now().Add(sweepTime)
	for empty := 0; empty < 2 && time.Now().Before(end); {
		empty++
		for _, pid := range children() {
			if t.owns(pid) {
				empty = 0
				syscall.Kill(pid, syscall.SIGKILL)
				reapBy(pid, end)
			} else if pid != t.pid && reapOrphan(pid) {
				empty = 0
			}
		}
	}
}

// owns reports whether our child pid belongs to the tree, apart from the leader: by
// its group, whose number is nobody else's until the leader is reaped; by its tag; or,
// if it has no tag, because it is an orphan and no other leader lives that could have
// started it.
func (t *tree) owns(pid int) bool {
	if pid == t.pid || running.find(pid) != nil {
		return false
	}
	if group, err := syscall.Getpgid(pid); err == nil && group == t.pid {
		return true
	}
	environ := procFile(pid, "environ")
	if bytes.Contains(environ, []byte(running.run.Prefix())) {
		return bytes.Contains(environ, []byte(running.run.Element(t.n)))
	}
	// As the first process of a container we get everybody's orphans.
	if os.Getpid() == 1 || bytes.Contains(environ, []byte(guard.Variable+"=")) {
		return false
	}
	for _, p := range running.processes() {
		if p.tree != t && !p.exitsWithin(0) {
			return false
		}
	}
	return isOrphan(pid, startTime)
}

// isOrphan reports whether our child pid was started by a process of ours, and not by
// pyplug itself: what pyplug starts beside this package stays in pyplug's group. While
// a process is being started, pid could be that one; isOrphan waits for it at most wait.
func isOrphan(pid int, wait time.Duration) bool {
	if slices.Contains(inherited, pid) {
		return false
	}
	for end := time.Now().Add(wait); !running.starting.TryLock(); time.Sleep(200 * time.Microsecond) {
		if time.Now().After(end) {
			return false
		}
	}
	defer running.starting.Unlock()
	group, err := syscall.Getpgid(pid)
	return err == nil && group != syscall.Getpgrp() && running.find(pid) == nil
}

// reapOrphan reaps our child pid if it is a dead orphan.
func reapOrphan(pid int) bool {
	if !isOrphan(pid, 0) { // else the next pass reaps it
		return false
	}
	got, _ := syscall.Wait4(pid, nil, syscall.WNOHANG, nil)
	return got == pid
}

// reapOrphans reaps all dead orphans.
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

// children lists our children, also dead ones.
func children() []int {
	if pids, ok := childrenOf(os.Getpid()); ok {
		return pids
	}
	return childrenByParent()
}

// childrenOf lists the children of a process. It fails if the process is gone, or if
// the kernel was built without these lists.
func childrenOf(pid int) (pids []int, ok bool) {
	tasks := "/proc/" + strconv.Itoa(pid) + "/task/"
	threads, err := os.ReadDir(tasks)
	if err != nil {
		return nil, false
	}
	for i, thread := range threads {
		text, err := os.ReadFile(tasks + thread.Name() + "/children")
		if err != nil && i == 0 {
			return nil, false
		}
		for field := range bytes.FieldsSeq(text) {
			if child, err := strconv.Atoi(string(field)); err == nil {
				pids = append(pids, child)
			}
		}
	}
	return pids, true
}

// childrenByParent asks every process for its parent.
func childrenByParent() []int {
	names, _ := os.ReadDir("/proc")
	var pids []int
	for _, name := range names {
		pid, err := strconv.Atoi(name.Name())
		if err != nil {
			continue
		}
		if fields := statFields(pid); len(fields) > 1 && string(fields[1]) == strconv.Itoa(os.Getpid()) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// survivors names the living processes of a dead leader's tree. What the leader
// started itself is our child since its death, and below such a child is what that
// one started. certain means that nothing of the tree was there, dead or alive:
// otherwise a process that died during the pass may have handed over children.
func (t *tree) survivors() (left []string, certain bool) {
	certain = true
	var queue []int
	for _, pid := range children() {
		if t.owns(pid) {
			queue, certain = append(queue, pid), false
		}
	}
	for len(queue) > 0 && len(left) < maxLeftovers {
		pid := queue[0]
		queue = queue[1:]
		if name, alive := aliveName(pid); alive {
			left = append(left, leftover(name, pid))
			more, _ := childrenOf(pid)
			queue = append(queue, more...)
		}
	}
	return left, certain
}

// aliveName returns the name of a process, and whether it lives. A process that is
// about to die does not: it has a pending SIGKILL, which is what the system makes of
// every signal that ends a process, or is exiting already.
func aliveName(pid int) (name string, alive bool) {
	const exiting, signaled = 0x4, 0x400 // PF_EXITING, PF_SIGNALED
	status := procFile(pid, "status")
	fields := statFields(pid) // after the status: a process does not come back
	if len(status) == 0 || len(fields) < 7 || fields[0][0] == 'Z' || fields[0][0] == 'X' || signalSet(status, "SigPnd:", int(syscall.SIGKILL)) {
		return "", false
	}
	flags, _ := strconv.ParseUint(string(fields[6]), 10, 64)
	return string(statusLine(status, "Name:")), flags&(exiting|signaled) == 0
}
