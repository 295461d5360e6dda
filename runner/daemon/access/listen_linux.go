package access

import (
	"errors"
	"syscall"

	"golang.org/x/sys/unix"
)

// limitUnacknowledged ends connections whose client does not acknowledge sent data, because no
// keep-alive probes are sent in that state. Accepted connections inherit it.
func limitUnacknowledged(_, _ string, c syscall.RawConn) error {
	var failed error
	err := c.Control(func(fd uintptr) {
		failed = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(writeLimit.Milliseconds()))
	})
	return errors.Join(err, failed)
}

// closeIfEmpty refuses new connections, unless one has connected that is not accepted: the kernel would reset it.
func closeIfEmpty(c syscall.RawConn) (closed bool) {
	err := c.Control(func(fd uintptr) {
		info, err := unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO)
		if closed = err != nil || info.Unacked == 0; closed { // for a listener, the number of these connections
			_ = unix.Shutdown(int(fd), unix.SHUT_RD)
		}
	})
	return closed || err != nil
}
