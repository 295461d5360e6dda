package grpcplugin

import (
	"context"
	"net"

	"golang.org/x/sys/unix"
)

// CheckPeer returns an error if a process that does not descend from the leader, a
// plugin's process, is at the other end of a connection to a Unix socket. It accepts
// every TCP connection.
func CheckPeer(_ context.Context, conn net.Conn, leader int) error {
	if c, ok := conn.(*net.UnixConn); ok {
		return checkUnixPeer(c, leader)
	}
	return nil
}

// peerOf returns the process that listens at the other end of a connection to a Unix
// socket.
func peerOf(fd int) (pid int, err error) {
	return unix.GetsockoptInt(fd, unix.SOL_LOCAL, unix.LOCAL_PEERPID)
}
