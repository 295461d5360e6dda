//go:build linux || darwin

package proc

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

func (o *outputPipe) readMarked(b []byte) (n int, err error) {
	waitErr := o.raw.Read(func(fd uintptr) bool {
		o.undelivered.Store(true)
		n, err = unix.Read(int(fd), b)
		for err == unix.EINTR {
			n, err = unix.Read(int(fd), b)
		}
		if err == unix.EAGAIN {
			o.undelivered.Store(false)
			return false // waits
		}
		return true
	})
	switch {
	case waitErr != nil:
		return 0, waitErr
	case err != nil:
		return 0, os.NewSyscallError("read", err)
	case n == 0:
		return 0, io.EOF
	}
	return n, nil
}

// empty reports whether nothing is in the pipe, or it is closed.
func (o *outputPipe) empty() bool {
	poll := [1]unix.PollFd{{Events: unix.POLLIN}}
	o.raw.Control(func(fd uintptr) {
		poll[0].Fd = int32(fd)
		unix.Poll(poll[:], 0) // if it fails, it reports nothing
	})
	return poll[0].Revents&unix.POLLIN == 0
}
