//go:build linux || darwin

package grpcplugin

import (
	"cmp"
	"fmt"
	"net"
	"strings"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/proc"
	"github.com/pyplug/pyplug/runner/schema"
)

// checkUnixPeer returns an error unless the process at the other end of a connection
// is the leader or descends from it.
func checkUnixPeer(conn *net.UnixConn, leader int) error {
	raw, err := conn.SyscallConn()
	if err != nil {
		return err
	}
	pid := 0
	controlErr := raw.Control(func(fd uintptr) { pid, err = peerOf(int(fd)) })
	switch {
	case controlErr != nil, err != nil:
		return cmp.Or(controlErr, err)
	case proc.Descends(pid, leader):
		return nil
	case pid > 0:
		return foreignError(conn.RemoteAddr().String(), []int{pid}, false)
	}
	return foreignError(conn.RemoteAddr().String(), nil, false)
}

// foreignError returns the error for an address at which other processes listen. shared reports
// whether the plugin listens there, too. pids may lack processes of other users.
func foreignError(address string, pids []int, shared bool) *hook.Error {
	who := "another process"
	switch len(pids) {
	case 0:
	case 1:
		who = fmt.Sprintf("process %d", pids[0])
	default:
		who = "processes " + strings.ReplaceAll(strings.Trim(fmt.Sprint(pids), "[]"), " ", ", ")
	}
	e := &hook.Error{Kind: hook.Handshake, Reason: ReasonForeignAddress}
	if shared {
		e.Err = fmt.Errorf("the address %s belongs to the plugin and to %s, expected the plugin alone", address, who)
		e.Hints = schema.Hints(`gRPC shares ports by default; turn that off with grpc.server(…, options=[("grpc.so_reuseport", 0)])`)
	} else {
		e.Err = fmt.Errorf("the address %s belongs to %s, expected the plugin", address, who)
		e.Hints = schema.Hints("listen on 127.0.0.1:0 and print the port that the system chose")
	}
	return e
}
