package grpcplugin

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"
)

// link is one connection as it comes about: who dials, what hindered it, and
// within which limit.
type link struct {
	network, address string
	limit            time.Duration
	// allow refuses an address before it is dialled; nil allows any.
	allow func() error
	// once takes a refused connection for final: what is asked there is whether
	// somebody listens.
	once bool
	// gone ends the wait: the process that should answer is gone. May be nil.
	gone <-chan struct{}

	mu      sync.Mutex // protects following
	refused error      // what allow said
	dialled error      // the last attempt to connect; nil when it worked
	secured error      // the last TLS handshake
}

// dial is gRPC's way to the address. The operating system is asked once for
// each attempt, gRPC asks again.
func (l *link) dial(ctx context.Context, _ string) (net.Conn, error) {
	if l.allow != nil {
		if err := l.allow(); err != nil {
			l.mu.Lock()
			l.refused = err
			l.mu.Unlock()
			return nil, err
		}
	}
	var d net.Dialer
	conn, err := d.DialContext(ctx, l.network, l.address)
	l.mu.Lock()
	l.dialled = err
	l.mu.Unlock()
	return conn, err
}

// options make a connection of ours out of any: own dialer, quick attempts, an
// end to each.
func (l *link) options() []grpc.DialOption {
	return []grpc.DialOption{
		grpc.WithContextDialer(l.dial),
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff: backoff.Config{
				BaseDelay: 10 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: 500 * time.Millisecond,
			},
			MinConnectTimeout: l.limit,
		}),
		grpc.WithStatsHandler(answers{}),
		grpc.WithDisableServiceConfig(),
		grpc.WithNoProxy(),
	}
}

// connect waits until the connection is there, and tells what hinders it: an
// error that will stay at once, another one when the limit is reached.
func (l *link) connect(ctx context.Context, cc *grpc.ClientConn) error {
	ctx, cancel := context.WithTimeout(ctx, l.limit)
	defer cancel()
	if l.gone != nil {
		over := make(chan struct{})
		defer close(over)
		go func() { // ends with connect
			select {
			case <-l.gone:
				cancel()
			case <-over:
			}
		}()
	}
	cc.Connect()
	for {
		state := cc.GetState()
		switch state {
		case connectivity.Ready:
			return nil
		case connectivity.Idle:
			cc.Connect()
		case connectivity.TransientFailure:
			if err := l.hindrance(ctx, cc, false); err != nil {
				return err
			}
		}
		if !cc.WaitForStateChange(ctx, state) {
			return l.hindrance(context.WithoutCancel(ctx), cc, true)
		}
	}
}

// hindrance says why there is no connection. Unless it is the last word,
// nothing is said of what may still change: a server that does not listen yet.
func (l *link) hindrance(ctx context.Context, cc *grpc.ClientConn, last bool) error {
	l.mu.Lock()
	refused, dialled, secured := l.refused, l.dialled, l.secured
	l.mu.Unlock()
	e := &ConnectError{Network: l.network, Address: l.address}
	switch {
	case refused != nil:
		return refused
	case secured != nil:
		e.Stage, e.Err = stageTLS, secured
		return e
	case dialled != nil && !last && !l.once:
		return nil
	case dialled != nil:
		e.Stage, e.Err = stageConnect, bare(dialled)
		return e
	}
	e.Stage, e.Err = stageHTTP2, l.reason(ctx, cc)
	if e.Err == nil {
		if !last {
			return nil
		}
		e.Err = errors.New("it does not answer within " + l.limit.String())
	}
	return e
}

// reason has gRPC say why the connection failed, which it tells only a call;
// nil when it does not know better than that it took too long.
func (l *link) reason(ctx context.Context, cc *grpc.ClientConn) error {
	if cc.GetState() != connectivity.TransientFailure {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
	defer cancel()
	_, err := grpc_health_v1.NewHealthClient(cc).Check(ctx, &grpc_health_v1.HealthCheckRequest{})
	s, ok := status.FromError(err)
	if !ok || s.Code() != codes.Unavailable {
		return nil
	}
	text := s.Message()
	if inner, found := strings.CutPrefix(text, `connection error: desc = "`); found {
		text = strings.TrimSuffix(inner, `"`)
	}
	// gRPC closes a connection that took too long, and reports its own doing.
	if strings.Contains(text, net.ErrClosed.Error()) || strings.Contains(text, context.DeadlineExceeded.Error()) {
		return nil
	}
	return errors.New(text)
}

// bare leaves out what the message around it says already.
func bare(err error) error {
	var op *net.OpError
	if errors.As(err, &op) {
		return op.Err
	}
	return err
}

// credentials are those of a TLS configuration, or none. What goes wrong with
// them is noted.
func (l *link) credentials(cfg *tls.Config) credentials.TransportCredentials {
	if cfg == nil {
		return insecure.NewCredentials()
	}
	return &noting{TransportCredentials: credentials.NewTLS(cfg), link: l}
}

// noting are credentials that note why a handshake failed.
type noting struct {
	credentials.TransportCredentials
	link *link
}

func (n *noting) ClientHandshake(ctx context.Context, authority string, raw net.Conn) (net.Conn, credentials.AuthInfo, error) {
	conn, info, err := n.TransportCredentials.ClientHandshake(ctx, authority, raw)
	n.link.mu.Lock()
	n.link.secured = err
	n.link.mu.Unlock()
	return conn, info, err
}

func (n *noting) Clone() credentials.TransportCredentials {
	return &noting{TransportCredentials: n.TransportCredentials.Clone(), link: n.link}
}
