package daemon

import (
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// peerUID returns the user at the other end of a socket.
func peerUID(fd int) (int, error) {
	cred, err := unix.GetsockoptXucred(fd, unix.SOL_LOCAL, unix.LOCAL_PEERCRED)
	if err != nil {
		return 0, err
	}
	return int(cred.Uid), nil
}

// concealDescriptors makes child processes not inherit this process's descriptors.
func concealDescriptors() {
	open, err := os.Open("/dev/fd")
	if err != nil {
		return
	}
	defer open.Close()
	names, _ := open.Readdirnames(-1)
	for _, name := range names {
		if fd, err := strconv.Atoi(name); err == nil && fd > 2 {
			unix.CloseOnExec(fd)
		}
	}
}

// watch returns a function. If wait is set, the function waits until a process has exited, for at
// most stopLimit.
func watch(pid int) (exited func(wait bool)) {
	return func(wait bool) {
		for end := time.Now().Add(stopLimit); wait && time.Now().Before(end) && unix.Kill(pid, 0) == nil; {
			time.Sleep(time.Millisecond)
		}
	}
}

func duplicate(from, to int) error { return unix.Dup2(from, to) }
