package access

import (
	"context"
	"fmt"
	"net"
	"os"
	"sync"
)

// peer is the user at the other end of a connection.
type peer struct {
	uid func() (int, error) // called once
}

// check returns an error if the peer is not this user.
func (p peer) check() error {
	uid, err := p.uid()
	if own := os.Geteuid(); err == nil && uid != own {
		err = fmt.Errorf("it belongs to user %d, expected user %d", uid, own)
	}
	return err
}

type peerKey struct{}

// withPeer adds the peer of a connection to the context of its requests.
func withPeer(ctx context.Context, c net.Conn) context.Context {
	local, remote := c.LocalAddr(), c.RemoteAddr()
	return context.WithValue(ctx, peerKey{}, peer{sync.OnceValues(func() (int, error) { return peerUID(local, remote) })})
}

func peerOf(ctx context.Context) peer { return ctx.Value(peerKey{}).(peer) }
