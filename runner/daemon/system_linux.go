package daemon

import (
	"errors"
	"math"
	"time"

	"golang.org/x/sys/unix"
)

// peerUID returns the user at the other end of a socket.
func peerUID(fd int) (int, error) {
	cred, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil {
		return 0, err
	}
	return int(cred.Uid), nil
}

// concealDescriptors makes child processes not inherit this process's descriptors.
func concealDescriptors() {
	_ = unix.CloseRange(3, math.MaxInt32, unix.CLOSE_RANGE_CLOEXEC) // fails on an old kernel
}

// watch opens a process. exited closes it and, if wait is set, first waits until the process has
// exited, for at most stopLimit. On an old kernel it does not wait.
func watch(pid int) (exited func(wait bool)) {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return func(bool) {} // the process has exited
	}
	return func(wait bool) {
		defer func() { _ = unix.Close(fd) }()
		for end := time.Now().Add(stopLimit); wait; {
			_, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, int(max(0, time.Until(end)).Milliseconds()))
			wait = errors.Is(err, unix.EINTR)
		}
	}
}

func duplicate(from, to int) error { return unix.Dup3(from, to, 0) }
