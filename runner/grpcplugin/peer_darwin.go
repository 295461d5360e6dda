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

// kin returns a process's parent and group, 0 if it does not exist.
func kin(pid int) (parent, group int) {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil {
		return 0, 0
	}
	return int(info.Eproc.Ppid), int(info.Eproc.Pgid)
}

// exiting reports whether a process has begun to exit, which it does before the kernel
// closes its sockets.
func exiting(pid int) bool {
	const begun = 0x2000 // P_WEXIT
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	return err != nil || info.Proc.P_flag&begun != 0
}
