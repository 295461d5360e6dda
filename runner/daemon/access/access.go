package access

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"

	"golang.org/x/net/netutil"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

// Options say who may call, and from where. The zero value listens nowhere.
type Options struct {
	// Listen lists the addresses, such as 127.0.0.1:8080, :8080 or [::1]:0.
	Listen []string
	// TokenFile contains the tokens, one per line. If it is set, a request needs one of them.
	TokenFile string
	// NoToken lets everybody call. Set it behind a proxy that decides who may call.
	NoToken bool
	// Hosts are the allowed names in the Host of a request without a token, and in the Origin of
	// any request, in addition to loopback.
	Hosts []string
	// MaxBody is the largest size of a body in bytes.
	MaxBody int64
	// MaxConnections limits the open connections of each listen address. Zero means no limit.
	MaxConnections int
}

// Access listens, and decides which requests are served. Create one with [Open]. It is safe for
// concurrent use.
type Access struct {
	o         Options
	tokens    *tokens // nil if requests need no token
	listeners []net.Listener
	acceptors []*acceptor  // one for each listener
	bodies    atomic.Int64 // bytes of request bodies in memory
}

// Open listens. log receives later errors. Open returns an error of kind Usage if the options do
// not allow an address, or of kind Unavailable if it cannot listen on an address. After an error
// nothing is open.
func Open(ctx context.Context, o Options, log func(text string)) (*Access, error) {
	a := &Access{o: o}
	switch {
	case o.TokenFile != "":
		var err error
		if a.tokens, err = openTokens(o.TokenFile, log); err != nil {
			return nil, hook.NewError(hook.Usage, err)
		}
	case !o.NoToken && !knowsPeers:
		e := hook.NewError(hook.Usage, errors.New("this system does not report the user at the other end of a connection"))
		e.Hints = needToken()
		return nil, e
	}
	for _, address := range o.Listen {
		l, err := a.listen(ctx, address)
		if err != nil {
			a.Close()
			return nil, err
		}
		a.listeners = append(a.listeners, l)
	}
	return a, nil
}

func needToken() []schema.Hint {
	return schema.Hints("pass %s to let clients with a token call, or %s to let everybody call", schema.Setting("token-file"), schema.Setting("no-token"))
}

// listen listens on one address.
func (a *Access) listen(ctx context.Context, address string) (net.Listener, error) {
	ip := netip.IPv6Unspecified() // all addresses
	host, port, err := net.SplitHostPort(address)
	if err == nil && host != "" {
		var found []netip.Addr
		if found, err = net.DefaultResolver.LookupNetIP(ctx, "ip", host); err == nil {
			ip = found[0].Unmap()
		}
	}
	if err != nil {
		return nil, unavailable(address, err)
	}
	if a.tokens == nil && !a.o.NoToken && !ip.IsLoopback() {
		e := hook.NewError(hook.Usage, fmt.Errorf("--listen %s: without --token-file or --no-token, pyplug listens only on loopback addresses", address))
		e.Hints = needToken()
		return nil, e
	}
	if host != "" {
		host = ip.String() // a second lookup could find an address that was not checked
	}
	c := net.ListenConfig{KeepAliveConfig: keepAlive, Control: limitUnacknowledged}
	l, err := c.Listen(ctx, "tcp", net.JoinHostPort(host, port))
	if err != nil {
		return nil, unavailable(address, err)
	}
	inner := &acceptor{TCPListener: l.(*net.TCPListener), stopped: make(chan struct{})}
	a.acceptors = append(a.acceptors, inner)
	l = inner
	if a.o.MaxConnections > 0 {
		l = netutil.LimitListener(l, a.o.MaxConnections)
	}
	return listener{l}, nil
}

func unavailable(address string, err error) error {
	if inner := (*net.OpError)(nil); errors.As(err, &inner) {
		err = inner.Err
	}
	return hook.NewError(hook.Unavailable, fmt.Errorf("cannot listen on %s: %w", address, err))
}

// Listeners returns the open listeners. Closing them closes the Access.
func (a *Access) Listeners() []net.Listener { return a.listeners }

// Stop refuses new connections. It still accepts clients that have already connected, so that none
// of their requests is lost.
func (a *Access) Stop() {
	var all sync.WaitGroup
	for _, each := range a.acceptors {
		all.Go(each.stop)
	}
	all.Wait()
}

// Close closes the listeners.
func (a *Access) Close() {
	for _, l := range a.listeners {
		_ = l.Close()
	}
}

// URLs returns the URLs of the addresses, with the real ports.
func (a *Access) URLs() (all []string) {
	for _, l := range a.listeners {
		all = append(all, "http://"+l.Addr().String())
	}
	return all
}

// Who returns who may call: "token", "user" or "anybody".
func (a *Access) Who() string {
	switch {
	case a.tokens != nil:
		return "token"
	case a.o.NoToken:
		return "anybody"
	}
	return "user"
}

// LargestMessage returns the size of the largest message of a stream in bytes, and the error for a
// larger one.
func (a *Access) LargestMessage() (int, error) { return int(a.o.MaxBody), tooLarge(a.o.MaxBody) }

// Limits sets the limits of a server that do not depend on a request.
func (a *Access) Limits(s *http.Server) {
	s.MaxHeaderBytes, s.IdleTimeout, s.ConnContext = headerSize, idleLimit, withPeer
}
