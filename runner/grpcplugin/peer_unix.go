//go:build linux || darwin

package grpcplugin

import (
	"net"

	"github.com/pyplug/pyplug/runner/proc"
)

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
	case proc.Descends(pid, leader):
		return nil
	case pid > 0:
		return foreignError(conn.RemoteAddr().String(), []int{pid}, false)
	}
	return foreignError(conn.RemoteAddr().String(), nil, false)
}
