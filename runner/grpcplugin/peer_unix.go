//go:build linux || darwin

package grpcplugin

import "net"

// checkUnixPeer returns an error unless the process at the other end of a connection
// is the leader or descends from it.
func checkUnixPeer(conn *net.UnixConn, leader int) error {
	raw, err := conn.SyscallConn()
	if err != nil {
		return err
	}
	pid := 0
	if controlErr := raw.Control(func(fd uintptr) { pid, err = peerOf(int(fd)) }); controlErr != nil {
		err = controlErr
	}
	switch {
	case err != nil:
		return err
	case isDescendant(pid, leader):
		return nil
	case pid > 0:
		return foreignError(conn.RemoteAddr().String(), []int{pid}, false)
	}
	return foreignError(conn.RemoteAddr().String(), nil, false)
}

// isDescendant reports whether a process is the leader, is in its group, or was started
// by such a process, directly or through others.
func isDescendant(pid, leader int) bool {
	for steps := 0; pid > 1 && steps < 1000; steps++ { // numbers may be reused meanwhile
		if pid == leader {
			return true
		}
		parent, group := kin(pid)
		if group == leader {
			return true
		}
		pid = parent
	}
	return false
}
