//go:build linux || darwin

package proc

import (
	"errors"
	"io"
	"os"
	"slices"

	"golang.org/x/sys/unix"
)

func (p *outputPipe) readMarked(b []byte) (n int, err error) {
	waitErr := p.raw.Read(func(uintptr) bool {
		p.undelivered.Store(true)
		n, err = unix.Read(p.number, b)
		for err == unix.EINTR {
			n, err = unix.Read(p.number, b)
		}
		if err == unix.EAGAIN {
			p.deliver()
			return false // wait for input
		}
		return true
	})
	switch {
	case errors.Is(waitErr, os.ErrDeadlineExceeded):
		return 0, waitErr
	case waitErr != nil: // an internal error of the runtime
		return 0, os.ErrClosed
	case err != nil:
		return 0, os.NewSyscallError("read", err)
	case n == 0:
		return 0, io.EOF
	}
	return n, nil
}

// hasInput reports whether one of the pipes has input. The result for a closed pipe is arbitrary,
// so callers wait with a limit.
func hasInput(pipes []*outputPipe) bool {
	polls := make([]unix.PollFd, 0, 2)
	for _, o := range pipes {
		polls = append(polls, unix.PollFd{Fd: int32(o.number), Events: unix.POLLIN})
	}
	unix.Poll(polls, 0) // if it fails, it reports nothing
	return slices.ContainsFunc(polls, func(p unix.PollFd) bool { return p.Revents&unix.POLLIN != 0 })
}
