package proc

import (
	"context"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Lacks returns the promises of this package that the system cannot keep.
func Lacks() string {
	return "on macOS a process that leaves its group outlives the plugin; if pyplug is killed, only the guard ends the groups; there are no memory limits and no preload"
}

const (
	guardNeedsGroups = true
	showsExiting     = false
	sweepTime        = 5 * time.Second
)

func prepare() {}

// reapOrphans does nothing, because orphans become the system's children.
func reapOrphans() (stop func()) { return func() {} }

// death says how the leader ended. It is set when the leader was reaped.
type death struct {
	status syscall.WaitStatus
	err    error
}

// awaitDeath blocks until the leader has exited. It reaps the leader, because macOS cannot wait for
// a process without reaping it.
func (t *tree) awaitDeath() {
	t.status, t.err = waitFor(t.pid)
	t.setReaped()
}

func (t *tree) takeStatus() (syscall.WaitStatus, error) { return t.status, t.err }

// cleanUp kills the processes that a dead leader left in its group, unless they exit by themselves
// within leaveTime.
func (t *tree) cleanUp(forced context.Context) ending {
	forced, cancel := context.WithTimeout(forced, leaveTime)
	defer cancel()
	for t.groupLives(0) && forced.Err() == nil {
		time.Sleep(time.Millisecond)
	}
	for end := time.Now().Add(sweepTime); t.groupLives(syscall.SIGKILL) && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	return t.reap()
}

// groupLives sends a signal, or nothing if it is 0, to the group of a dead leader. It reports
// whether a process of the group lives.
func (t *tree) groupLives(s syscall.Signal) bool { return syscall.Kill(-t.pid, s) == nil }

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

// kin returns a process's parent and group, or 0 if the process does not exist.
func kin(pid int) (parent, group int) {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil {
		return 0, 0
	}
	return int(info.Eproc.Ppid), int(info.Eproc.Pgid)
}

// exiting returns true, because the leader may have begun to exit.
func (*tree) exiting() bool { return true }

// lifeline does nothing, because pipes of macOS cannot send SIGKILL.
type lifeline struct{}

func newLifeline() lifeline     { return lifeline{} }
func (lifeline) child() uintptr { return noFile }
func (lifeline) arm(int) int    { return -1 }
func (lifeline) close()         {}

// executable returns the path of pyplug's executable, or "" if it is unknown.
func executable() string {
	path, _ := os.Executable()
	return path
}
