//go:build linux || darwin

package call

import "syscall"

// patience is how long the warm way waits for a call's answer, in nanoseconds.
const patience = 200e6

// now is the time in nanoseconds. Package time has a clock that does not jump, but
// initialises late; so each wait has patience as its limit, too.
func now() int64 {
	var t syscall.Timeval
	_ = syscall.Gettimeofday(&t) // which cannot fail
	return syscall.TimevalToNsec(t)
}

// local is a connected Unix socket. It blocks, with the kernel's own time limits,
// since package os would make a poller first.
type local int

// connectLocal connects to a socket; ok is false when nobody listens there.
func connectLocal(path string) (conn local, ok bool) {
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		return 0, false
	}
	syscall.CloseOnExec(fd)
	conn = local(fd)
	if !conn.limit(syscall.SO_SNDTIMEO, patience) || syscall.Connect(fd, &syscall.SockaddrUnix{Name: path}) != nil {
		conn.close()
		return 0, false
	}
	return conn, true
}

func (l local) close() { syscall.Close(int(l)) }

// limit sets how long one system call may take.
func (l local) limit(option int, left int64) bool {
	t := syscall.NsecToTimeval(min(max(left, 1000), patience)) // 0 would be for ever
	return syscall.SetsockoptTimeval(int(l), syscall.SOL_SOCKET, option, &t) == nil
}

// send sends all of p in time, in one write unless the socket takes less.
func (l local) send(p []byte, deadline int64) bool {
	for {
		n, err := syscall.Write(int(l), p)
		switch {
		case err == nil && n == len(p):
			return true
		case err == nil && n > 0:
			p = p[n:]
		case err != syscall.EINTR:
			return false
		}
		if left := deadline - now(); left <= 0 || !l.limit(syscall.SO_SNDTIMEO, left) {
			return false
		}
	}
}

// read reads at least one byte of p in time; 0 at the end of the connection, and
// when there was none in time.
func (l local) read(p []byte, deadline int64) int {
	for {
		left := deadline - now()
		if left <= 0 || !l.limit(syscall.SO_RCVTIMEO, left) {
			return 0
		}
		if n, err := syscall.Read(int(l), p); err != syscall.EINTR {
			return max(n, 0)
		}
	}
}
