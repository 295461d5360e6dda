//go:build linux || darwin

package health

import (
	"os"
	"syscall"
	"time"
)

// dial connects to the first of the targets that lets it; nil if none does. The
// connection has the deadline for all that is done with it.
func dial(targets []syscall.Sockaddr, deadline time.Time) *os.File {
	for _, to := range targets {
		if conn := connect(to, deadline); conn != nil {
			return conn
		}
	}
	return nil
}

// connect makes a socket and connects it; nil if it cannot.
func connect(to syscall.Sockaddr, deadline time.Time) *os.File {
	family := syscall.AF_UNIX
	switch to.(type) {
	case *syscall.SockaddrInet4:
		family = syscall.AF_INET
	case *syscall.SockaddrInet6:
		family = syscall.AF_INET6
	}
	fd, err := syscall.Socket(family, syscall.SOCK_STREAM, 0)
	if err != nil {
		return nil
	}
	syscall.CloseOnExec(fd)
	err = syscall.SetNonblock(fd, true)
	if err == nil {
		err = syscall.Connect(fd, to)
	}
	if err != nil && err != syscall.EINPROGRESS {
		syscall.Close(fd)
		return nil
	}
	conn := os.NewFile(uintptr(fd), "socket") // which waits, since it does not block
	if conn.SetDeadline(deadline) != nil || err != nil && !connected(conn) {
		conn.Close()
		return nil
	}
	return conn
}

// connected waits until a connection has come about, or cannot.
func connected(conn *os.File) bool {
	raw, err := conn.SyscallConn()
	if err != nil {
		return false
	}
	there := false
	err = raw.Write(func(fd uintptr) bool { // called again when the socket is ready
		failed, err := syscall.GetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_ERROR)
		if err != nil || failed != 0 {
			return true
		}
		_, err = syscall.Getpeername(int(fd))
		there = err == nil
		return there
	})
	return err == nil && there
}
