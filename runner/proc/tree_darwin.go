package proc

import (
	"context"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Lacks says what this system cannot do of what the package promises.
func Lacks() string {
	return "on macOS a process that leaves its group outlives the plugin, and when pyplug is killed the guard alone ends the groups"
}

const (
	rssUnit          = 1 // of rusage's Maxrss, in bytes
	guardNeedsGroups = true
	sweepTime        = 5 * time.Second
)

func prepare() {}

// reapOrphans does nothing: orphans become the system's children.
func reapOrphans() (stop func()) { return func() {} }

// forked exists only on Linux.
type forked struct{}

func (t *tree) takeStatus() (syscall.WaitStatus, int64, error) { return waitFor(t.pid) }

func rawPipe() (r, w int, err error) {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	var p [2]int
	if err := syscall.Pipe(p[:]); err != nil {
		return -1, -1, err
	}
	syscall.CloseOnExec(p[0])
	syscall.CloseOnExec(p[1])
	return p[0], p[1], nil
}

// ownMemory is 0: a child's figure does not include ours.
func ownMemory() int64 { return 0 }

// awaitDeath blocks until the leader has exited, and leaves it a zombie. The waitid of
// macOS also returns for a stopped process, hence kqueue, which rejects a process that
// is dead already. Without a queue it polls.
func (t *tree) awaitDeath() {
	queue, err := unix.Kqueue()
	for err != nil {
		const zombie = 5 // SZOMB
		info, gone := unix.SysctlKinfoProc("kern.proc.pid", t.pid)
		if gone != nil || info.Proc.P_stat == zombie {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	defer unix.Close(queue)
	unix.CloseOnExec(queue)
	var event unix.Kevent_t
	unix.SetKevent(&event, t.pid, unix.EVFILT_PROC, unix.EV_ADD|unix.EV_ONESHOT)
	event.Fflags = unix.NOTE_EXIT
	changes := []unix.Kevent_t{event}
	for {
		n, err := unix.Kevent(queue, changes, make([]unix.Kevent_t, 1), nil)
		if err == unix.EINTR {
			changes = nil
			continue
		}
		if n > 0 || err != nil {
			return
		}
	}
}

// cleanUp kills what a dead leader left in its group, and reaps the leader. A group of
// zombies cannot be signalled.
func (t *tree) cleanUp(forced context.Context) ending {
	var left []string
	if forced.Err() == nil { // what is being killed looks like what lives
		left = t.leftovers(forced)
	}
	end := time.Now().Add(sweepTime)
	for t.send(-t.pid, syscall.SIGKILL) == nil && time.Now().Before(end) {
		time.Sleep(time.Millisecond)
	}
	e := t.reap()
	e.left = left
	return e
}

// survivors names what lives in the group of a dead leader. The system does not tell
// whose the processes outside the group were.
func (t *tree) survivors() (left []string, certain bool) {
	const zombie = 5 // SZOMB
	members, err := unix.SysctlKinfoProcSlice("kern.proc.pgrp", t.pid)
	if err != nil {
		return nil, true
	}
	for _, m := range members {
		pid := int(m.Proc.P_pid)
		if pid != t.pid && m.Proc.P_stat != zombie && m.Proc.P_flag&pWExit == 0 && len(left) < maxLeftovers {
			left = append(left, leftover(unix.ByteSliceToString(m.Proc.P_comm[:]), pid))
		}
	}
	return left, true
}

// catches reports whether the leader handles signal sig.
func (t *tree) catches(sig int) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.reaped || sig < 1 || sig > 32 {
		return false
	}
	info, err := unix.SysctlKinfoProc("kern.proc.pid", t.pid)
	return err == nil && info.Proc.P_sigcatch>>(sig-1)&1 == 1
}

// kin returns a process's parent and group, 0 if it does not exist.
func kin(pid int) (parent, group int) {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil {
		return 0, 0
	}
	return int(info.Eproc.Ppid), int(info.Eproc.Pgid)
}

// exiting reports whether the leader has begun to exit.
func (t *tree) exiting() bool {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", t.pid)
	return err != nil || info.Proc.P_flag&pWExit != 0
}

const pWExit = 0x2000 // the flag of a process that is exiting

// lifeline does nothing: no pipe of macOS sends SIGKILL.
type lifeline struct{}

func newLifeline() lifeline                       { return lifeline{} }
func (lifeline) appendTo(fds []uintptr) []uintptr { return fds }
func (lifeline) arm(int) int                      { return -1 }
func (lifeline) close()                           {}

// executable is our executable; "" if it is not known.
func executable() string {
	path, _ := os.Executable()
	return path
}
