package grpcplugin

import (
	"context"
	"net"

	"golang.org/x/sys/unix"
)

// isExposed returns false, because pyplug does not examine listening sockets here.
func isExposed(string) bool { return false }

// CheckPeer returns an error unless the process at the other end of a connection to a Unix socket
// is the leader, which is a plugin's process, or a descendant. It accepts every TCP connection.
func CheckPeer(_ context.Context, conn net.Conn, leader int) error {
	if c, ok := conn.(*net.UnixConn); ok {
		return checkUnixPeer(c, leader)
	}
	return nil
}

// peerOf returns the process that listens at the other end of a connection to a Unix socket.
func peerOf(fd int) (pid int, err error) {
	return unix.GetsockoptInt(fd, unix.SOL_LOCAL, unix.LOCAL_PEERPID)
}
