package grpcplugin

import (
	"context"
	"net"
)

// isExposed returns false, because pyplug does not examine listening sockets here.
func isExposed(string) bool { return false }

// CheckPeer accepts every connection.
func CheckPeer(context.Context, net.Conn, int) error { return nil }
