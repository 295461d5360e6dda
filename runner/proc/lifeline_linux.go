package proc

import (
	"math"
	"syscall"

	"golang.org/x/sys/unix"
)

// lifelineFD is the child's descriptor of the lifeline: high, so that programs that
// close the low ones, or rely on their numbers, leave it alone.
const lifelineFD = 190

// lifeline is a pipe by which the kernel kills a child's group when we are gone. The
// child holds the read end and need not know it. When the last write end, ours, is
// closed, the kernel sends the pipe's signal to the pipe's owner.
type lifeline struct{ r, w int }

// newLifeline makes one; r is -1 if there are no descriptors for it.
func newLifeline() lifeline {
	r, w, err := rawPipe()
	if err != nil {
		return lifeline{-1, -1}
	}
	return lifeline{r, w}
}

// appendTo adds the read end to a child's descriptors.
func (l lifeline) appendTo(fds []uintptr) []uintptr {
	if l.r < 0 {
		return fds
	}
	at := max(len(fds), lifelinePlace())
	for len(fds) < at {
		fds = append(fds, math.MaxUint) // none
	}
	return append(fds, uintptr(l.r))
}

// lifelinePlace is the child's descriptor of the lifeline as far as the limit allows.
func lifelinePlace() int {
	const spare = 32 // the fork needs some above
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) == nil && limit.Cur < lifelineFD+spare {
		return int(limit.Cur) - spare
	}
	return lifelineFD
}

// arm sets signal and owner, closes our copy of the read end, and returns the write
// end, or -1. The settings belong to the pipe, so they hold for the child; the owner
// is the group itself, not its number.
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
