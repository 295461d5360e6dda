package daemon

import "golang.org/x/sys/unix"

// peerUID is the user at the other end of a socket.
func peerUID(fd int) (int, error) {
	cred, err := unix.GetsockoptXucred(fd, unix.SOL_LOCAL, unix.LOCAL_PEERCRED)
	if err != nil {
		return 0, err
	}
	return int(cred.Uid), nil
}

// concealDescriptors keeps inherited descriptors from the processes we start.
func concealDescriptors() {
	for fd := 3; fd < 256; fd++ {
		unix.CloseOnExec(fd)
	}
}

func duplicate(from, to int) error { return unix.Dup2(from, to) }
