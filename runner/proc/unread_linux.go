package proc

import "golang.org/x/sys/unix"

// unread is how many bytes wait in a pipe; 0 when that is not told.
func unread(fd int) int {
	n, err := unix.IoctlGetInt(fd, unix.TIOCINQ)
	if err != nil {
		return 0
	}
	return n
}
