package access

import (
	"errors"
	"syscall"

	"golang.org/x/sys/unix"
)

// limitUnacknowledged ends connections whose client does not acknowledge sent data, because the
// kernel sends no keep-alive probes in that state. Accepted connections inherit the option.
func limitUnacknowledged(_, _ string, c syscall.RawConn) error {
	var failed error
	err := c.Control(func(fd uintptr) {
		failed = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(writeLimit.Milliseconds()))
	})
	return errors.Join(err, failed)
}

// closeIfEmpty makes the listener refuse new connections. If a connection waits to be accepted,
// closeIfEmpty returns false and does nothing, because the kernel would reset that connection.
func closeIfEmpty(c syscall.RawConn) (closed bool) {
	err := c.Control(func(fd uintptr) {
		info, err := unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO)
		if closed = err != nil || info.Unacked == 0; closed { // a listener's Unacked counts the waiting connections
			_ = unix.Shutdown(int(fd), unix.SHUT_RD)
		}
	})
	return closed || err != nil
}
