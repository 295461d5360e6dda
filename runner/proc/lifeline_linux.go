package proc

import (
	"math"
	"syscall"

	"golang.org/x/sys/unix"
)

// lifelineAt is the child's descriptor of the lifeline: high, so that programs
// that close the low ones, or count on their numbers, leave it alone.
const lifelineAt = 190

// lifeline is a pipe by which the kernel kills a child's group when we are
// gone. The child holds the read end and need not know of it; the kernel sends
// the signal set for it to the owner set for it when the last write end, ours,
// is closed.
type lifeline struct{ r, w int }

// newLifeline makes one; r is -1 when there are no descriptors for it.
func newLifeline() lifeline {
	r, w, err := rawPipe()
	if err != nil {
		return lifeline{-1, -1}
	}
	return lifeline{r, w}
}

// place adds the read end to a child's descriptors, high if the limit allows.
func (l lifeline) place(fds []uintptr) []uintptr {
	if l.r < 0 {
		return fds
	}
	at := max(len(fds), lifelinePlace())
	all := make([]uintptr, at+1)
	n := copy(all, fds)
	for i := n; i < at; i++ {
		all[i] = math.MaxUint // none
	}
	all[at] = uintptr(l.r)
	return all
}

// lifelinePlace is the child's descriptor of the lifeline.
func lifelinePlace() int {
	const spare = 32 // the fork needs some above
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) == nil && limit.Cur < lifelineAt+spare {
		return int(limit.Cur) - spare
	}
	return lifelineAt
}

// arm sets signal and owner, closes our copy of the read end, and returns the
// write end, or -1. The setting belongs to the pipe, not to a process, so it
// holds for the child; and the owner is the group itself, not its number.
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

func (l lifeline) drop() {
	if l.r >= 0 {
		syscall.Close(l.r)
		syscall.Close(l.w)
	}
}
