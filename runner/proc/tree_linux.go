package proc

import (
	"bytes"
	"context"
	"os"
	"strconv"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// Lacks returns the promises of this package that the system cannot keep. Linux can keep all of
// them.
func Lacks() string { return "" }

const (
	guardNeedsGroups = false
	// showsExiting says that the system reports whether a process has begun to exit.
	showsExiting = true
)

// inherited lists the children that this process had before it started any. A shell may have
// started them before it became pyplug by exec.
var inherited []int

// prepare makes pyplug the parent of orphans, so that it finds the processes that a plugin leaves
// behind. It makes inherited descriptors close on exec.
var prepare = sync.OnceFunc(func() {
	if unix.Waitid(unix.P_ALL, 0, nil, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil) != unix.ECHILD {
		inherited = children()
	}
	unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
	unix.CloseRange(3, ^uint(0)>>1, unix.CLOSE_RANGE_CLOEXEC)
})

// executable returns the path of pyplug's executable, which works even if the file was replaced or
// removed.
func executable() string { return "/proc/self/exe" }

// awaitDeath blocks until the leader has exited. It leaves the leader a zombie, so that its number
// cannot be reused.
func (t *tree) awaitDeath() {
	if t.forked != nil {
		t.forked.awaitDeath()
		return
	}
	for unix.Waitid(unix.P_PID, t.pid, nil, unix.WEXITED|unix.WNOWAIT, nil) == unix.EINTR {
	}
}

// cleanUp kills the processes that a dead leader left behind, and reaps everything.
func (t *tree) cleanUp(forced context.Context) ending {
	left := t.leftovers(forced)
	t.send(-t.pid, syscall.SIGKILL)
	t.sweep()
	end := t.reap()
	end.left = left
	return end
}

// catches reports whether the leader handles signal sig.
func (t *tree) catches(sig int) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.reaped || sig < 1 || sig > 64 {
		return false
	}
	return signalSet(procFile(t.pid, "status"), "SigCgt:", sig)
}

// procFile returns the content of a file in /proc/PID, or nil.
func procFile(pid int, name string) []byte {
	text, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/" + name)
	return text
}

// statusLine returns the value of the line of /proc/PID/status that begins with name.
func statusLine(status []byte, name string) []byte {
	for line := range bytes.Lines(status) {
		if rest, ok := bytes.CutPrefix(line, []byte(name)); ok {
			return bytes.TrimSpace(rest)
		}
	}
	return nil
}

// signalSet reports whether a set of signals in /proc/PID/status contains sig.
func signalSet(status []byte, name string, sig int) bool {
	bits, err := strconv.ParseUint(string(statusLine(status, name)), 16, 64)
	return err == nil && bits>>(sig-1)&1 == 1
}

// statFields returns the fields of /proc/PID/stat after the name in parentheses, which may contain
// anything: the state, the parent, the group, the session, the terminal, its group, the flags.
func statFields(pid int) [][]byte {
	stat := procFile(pid, "stat")
	return bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
}

// kin returns a process's parent and group, or 0 if the process does not exist.
func kin(pid int) (parent, group int) {
	if fields := statFields(pid); len(fields) > 2 {
		parent, _ = strconv.Atoi(string(fields[1]))
		group, _ = strconv.Atoi(string(fields[2]))
	}
	return parent, group
}

// exiting reports whether the leader has begun to exit.
func (t *tree) exiting() bool {
	fields := statFields(t.pid)
	return len(fields) < 7 || hasFlag(fields[6], pfExiting)
}

// The flags of a process that is exiting, and of a process that a signal ends.
const pfExiting, pfSignaled = 0x4, 0x400

// hasFlag reports whether flags, a decimal number from /proc, has one of bits.
func hasFlag(flags []byte, bits uint64) bool {
	number, _ := strconv.ParseUint(string(flags), 10, 64)
	return number&bits != 0
}

// lifeline is a pipe with which the kernel kills a child's group when pyplug is gone. The child
// holds the read end and need not know about it. Only pyplug has the write end. When it is closed,
// the kernel sends the pipe's signal to the pipe's owner.
type lifeline struct{ r, w int }

// newLifeline creates a lifeline. r is -1 if no descriptors are free.
func newLifeline() lifeline {
	var p [2]int
	if err := syscall.Pipe2(p[:], syscall.O_CLOEXEC); err != nil {
		return lifeline{-1, -1}
	}
	return lifeline{p[0], p[1]}
}

// child returns the read end for the child, or noFile.
func (l lifeline) child() uintptr {
	if l.r < 0 {
		return noFile
	}
	return uintptr(l.r)
}

// arm sets the signal and the owner, and closes pyplug's copy of the read end. It returns the write
// end, or -1. The settings belong to the pipe, so they also apply to the child. The owner is the
// group itself, even if another group gets its number.
func (l lifeline) arm(group int) int {
	if l.r < 0 {
		return -1
	}
	r := uintptr(l.r)
	unix.FcntlInt(r, unix.F_SETSIG, int(unix.SIGKILL))
	unix.FcntlInt(r, unix.F_SETOWN, -group)
	unix.FcntlInt(r, unix.F_SETFL, unix.O_ASYNC)
	syscall.Close(l.r)
	return l.w
}

func (l lifeline) close() {
	if l.r >= 0 {
		syscall.Close(l.r)
		syscall.Close(l.w)
	}
}
