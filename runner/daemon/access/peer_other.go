//go:build !linux

package access

import (
	"errors"
	"net"
	"syscall"
)

const knowsPeers = false

func peerUID(_, _ net.Addr) (int, error) { return 0, errors.ErrUnsupported } // Open has rejected such a request

func limitUnacknowledged(_, _ string, _ syscall.RawConn) error { return nil }
