package proc

import (
	"bytes"
	"context"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/pyplug/pyplug/runner/proc/guard"
)

// sweepTime limits the sweep: a process that cannot die, because it waits for a disk, must not
// block pyplug forever.
const sweepTime = 5 * time.Second

// sweep kills and reaps the orphans of the tree, which become pyplug's children when their parents
// die. A process that dies hands over its own children, and one pass may miss a process while
// another is reaped. So sweep ends when two passes in a row find nothing.
func (t *tree) sweep() {
	end, pause := time.Now().Add(sweepTime), 20*time.Microsecond
	for empty := 0; empty < 2 && time.Now().Before(end); empty++ {
		if t.killOrphans() {
			empty = -1
			time.Sleep(pause)
			pause = min(2*pause, time.Millisecond)
		}
	}
}

// killOrphans kills the orphans of the tree. It reports whether it found any, dead or alive. It
// stops all of them before it kills the first, so that none can react to the death of another.
func (t *tree) killOrphans() bool {
	var stopped []int
	found := t.eachOrphan(func(pid int) {
		syscall.Kill(pid, syscall.SIGSTOP)
		stopped = append(stopped, pid)
	})
	for _, pid := range stopped {
		syscall.Kill(pid, syscall.SIGKILL)
	}
	return found
}

// eachOrphan calls do for the living orphans of the tree, and reaps the dead orphans of all trees.
// It reports whether it found any. It starts with the youngest: if processes fork and exit in a
// chain, only the youngest is alive.
//
// No process can start during the call, because a new process looks like an orphan.
func (t *tree) eachOrphan(do func(pid int)) (found bool) {
	running.starting.Lock()
	defer running.starting.Unlock()
	for _, pid := range slices.Backward(children()) {
		switch {
		case running.find(pid) != nil: // a leader
		case reapOrphan(pid):
			found = true
		case t.includes(pid):
			found = true
			do(pid)
		}
	}
	return found
}

// includes reports whether a child of pyplug that is not a leader belongs to the tree. It does if
// it has the tree's group, whose number is unique until the leader is reaped, or the tree's tag. An
// orphan also belongs to the tree if it is dying, if it has the tag of a tree that is gone, or if
// it has no tag and no other living leader could have started it.
func (t *tree) includes(pid int) bool {
	if group, err := syscall.Getpgid(pid); err == nil && group == t.pid {
		return true
	}
	environ := procFile(pid, "environ")
	if bytes.Contains(environ, []byte(running.element(t.n))) {
		return true
	}
	if !isOrphan(pid) {
		return false
	}
	if _, alive := aliveName(pid); !alive {
		return true
	}
	tagged := bytes.Contains(environ, []byte(running.run+"."))
	// The first process of a container gets the orphans of all others.
	if !tagged && (os.Getpid() == 1 || bytes.Contains(environ, []byte(guard.Variable+"="))) {
		return false
	}
	return !slices.ContainsFunc(running.processes(), func(p *Process) bool {
		if tagged {
			return bytes.Contains(environ, []byte(running.element(p.tree.n)))
		}
		return p.tree != t && !p.Exited()
	})
}

// isOrphan reports whether a process of pyplug started the child pid, which is not a leader.
// Processes that pyplug starts without this package stay in pyplug's group.
func isOrphan(pid int) bool {
	group, err := syscall.Getpgid(pid)
	return err == nil && group != syscall.Getpgrp() && !slices.Contains(inherited, pid)
}

// reapOrphan reaps the child pid, which is not a leader, if it is a dead orphan.
func reapOrphan(pid int) bool {
	if !isOrphan(pid) {
		return false
	}
	got, _ := syscall.Wait4(pid, nil, syscall.WNOHANG, nil)
	return got == pid
}

// reapPause is the minimum time between two passes over dead orphans.
const reapPause = time.Second

// reapOrphans reaps orphans within about a second of their death, until stop is called, because a
// long-lived process may leave many. It does not wake an idle daemon.
func reapOrphans() (stop func()) {
	died, over := make(chan os.Signal, 1), make(chan struct{})
	signal.Notify(died, syscall.SIGCHLD)
	go func() { // ends with stop
		for {
			select {
			case <-died:
			case <-over:
				return
			}
			select {
			case <-time.After(reapPause):
			case <-over:
				return
			}
			new(tree).eachOrphan(func(int) {})
		}
	}()
	return func() {
		signal.Stop(died)
		close(over)
	}
}

// children lists the children of this process, including dead ones. The youngest orphans are last.
func children() []int {
	if pids, ok := childrenOf(os.Getpid()); ok {
		return pids
	}
	return childrenByParent()
}

// childrenOf lists the children of a process. ok is false if the process is gone, or if the kernel
// was built without these lists.
func childrenOf(pid int) (pids []int, ok bool) {
	tasks := "/proc/" + strconv.Itoa(pid) + "/task/"
	threads, err := os.ReadDir(tasks)
	if err != nil {
		return nil, false
	}
	for i, thread := range slices.Backward(threads) { // the first thread gets the orphans
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

// childrenByParent finds the children by reading the parent of every process.
func childrenByParent() []int {
	names, _ := os.ReadDir("/proc")
	var pids []int
	for _, name := range names {
		pid, err := strconv.Atoi(name.Name())
		if err != nil {
			continue
		}
		if parent, _ := kin(pid); parent == os.Getpid() {
			pids = append(pids, pid)
		}
	}
	return pids
}

// maxLeftovers is the maximum number of processes that Exit names.
const maxLeftovers = 10

// leftovers returns the names of processes that a dead leader left behind, before they are killed.
// A process that exits by itself within leaveTime does not count. leftovers usually finds none and
// returns at once. It stops waiting when forced ends.
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

// survivors returns the names of living processes of a dead leader's tree. Since its death, its
// children are pyplug's. certain reports whether there was no process of the tree, dead or alive.
// If it is false, a process that died during the pass may have handed over children.
func (t *tree) survivors() (left []string, certain bool) {
	var queue []int
	certain = !t.eachOrphan(func(pid int) { queue = append(queue, pid) })
	for len(queue) > 0 && len(left) < maxLeftovers {
		pid := queue[0]
		queue = queue[1:]
		if name, alive := aliveName(pid); alive {
			left = append(left, name+" (pid "+strconv.Itoa(pid)+")")
			more, _ := childrenOf(pid)
			queue = append(queue, more...)
		}
	}
	return left, certain
}

// aliveName returns the name of a process, and whether it is alive. A process that is about to die
// is not alive: it is exiting, or has a pending SIGKILL, which the system itself sends for every
// deadly signal. A process whose first thread has exited before others is alive.
func aliveName(pid int) (name string, alive bool) {
	status := procFile(pid, "status")
	fields := statFields(pid) // after the status, because a dead process does not come back
	if len(status) == 0 || len(fields) < 18 || signalSet(status, "SigPnd:", int(syscall.SIGKILL)) {
		return "", false
	}
	name = string(statusLine(status, "Name:"))
	if threads := string(fields[17]); fields[0][0] == 'Z' || fields[0][0] == 'X' {
		return name, threads > "1"
	}
	return name, !hasFlag(fields[6], pfExiting|pfSignaled)
}
