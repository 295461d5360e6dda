package daemon

import (
	"math"

	"golang.org/x/sys/unix"
)

// peerUID is the user at the other end of a socket.
func peerUID(fd int) (int, error) {
	cred, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil {
		return 0, err
	}
	return int(cred.Uid), nil
}

// concealDescriptors keeps inherited descriptors from the processes we start.
func concealDescriptors() {
	_ = unix.CloseRange(3, math.MaxInt32, unix.CLOSE_RANGE_CLOEXEC) // an old kernel cannot
}

func duplicate(from, to int) error { return unix.Dup3(from, to, 0) }
