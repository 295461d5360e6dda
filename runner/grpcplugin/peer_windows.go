package grpcplugin

import (
	"context"
	"net"
)

// isExposed does not know the server.
func isExposed(string) bool { return false }

// CheckPeer accepts every connection.
func CheckPeer(context.Context, net.Conn, int) error { return nil }
