package grpcplugin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"
)

// link is one connection as it comes about: who dials, what hindered it, and
// within which limit.
type link struct {
	network, address string
	limit            time.Duration
	// patience is how long nobody may be there: 0 where the question is whether
	// somebody is.
	patience time.Duration
	// allow refuses an address before it is dialled; nil allows any.
	allow func() error
	// gone ends the wait: the process that should answer is gone. May be nil.
	gone <-chan struct{}

	failed error // what connect said, which belongs to one goroutine

	mu      sync.Mutex // protects following
	refused error      // why the address is not dialled
	stage   string     // how far the last attempt came; empty: nowhere yet
	err     error      // what ended it there; nil: it goes on, or gRPC knows
}

// earlyLimit is the patience with a plugin that says that it listens before it
// does. Its server is about to be started; what takes longer will not come.
const earlyLimit = time.Second

// dial is gRPC's way to the address. The operating system is asked once for
// each attempt, gRPC asks again.
func (l *link) dial(ctx context.Context, _ string) (net.Conn, error) {
	if err := l.refuse(); err != nil {
		l.mu.Lock()
		l.refused = err
		l.mu.Unlock()
		return nil, err
	}
	var d net.Dialer
	conn, err := d.DialContext(ctx, l.network, l.address)
	if err != nil {
		l.reach(stageConnect, bare(err))
		return nil, err
	}
	l.reach(stageHTTP2, nil)
	return conn, nil
}

// reach notes how far an attempt came.
func (l *link) reach(stage string, err error) {
	l.mu.Lock()
	l.stage, l.err = stage, err
	l.mu.Unlock()
}

// refuse tells why an address should not be dialled at all. A path that is no
// socket would refuse the connection, as if nobody listened.
func (l *link) refuse() error {
	if l.network == "unix" {
		// Only what is sure: not every system shows a socket as one.
		if info, err := os.Stat(l.address); err == nil && (info.Mode().IsRegular() || info.IsDir()) {
			kind := "file"
			if info.IsDir() {
				kind = "directory"
			}
			return &ConnectError{Network: l.network, Address: l.address, Stage: stageConnect,
				Err: fmt.Errorf("it is a %s, want a socket", kind)}
		}
	}
	if l.allow != nil {
		return l.allow()
	}
	return nil
}

// options make a connection of ours out of any: own dialer, quick attempts, an
// end to each.
func (l *link) options() []grpc.DialOption {
	return []grpc.DialOption{
		grpc.WithContextDialer(l.dial),
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff: backoff.Config{
				BaseDelay: 10 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: 100 * time.Millisecond,
			},
			MinConnectTimeout: l.limit,
		}),
		grpc.WithStatsHandler(answers{}),
		grpc.WithDisableServiceConfig(),
		grpc.WithNoProxy(),
	}
}

// connect waits until the connection is there, and tells what hinders it: an
// error that will stay at once, another one when the limit is reached. Asked
// again it says the same.
func (l *link) connect(ctx context.Context, cc *grpc.ClientConn) error {
	if l.failed == nil {
		l.failed = l.tryConnect(ctx, cc)
	}
	return l.failed
}

func (l *link) tryConnect(ctx context.Context, cc *grpc.ClientConn) error {
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
	began := time.Now()
	cc.Connect()
	for {
		state := cc.GetState()
		switch state {
		case connectivity.Ready:
			return nil
		case connectivity.Idle:
			cc.Connect()
		case connectivity.TransientFailure:
			if err := l.hindrance(ctx, cc, time.Since(began) >= l.patience); err != nil {
				return err
			}
		}
		wait(ctx, cc, state)
		if ctx.Err() != nil {
			return l.lateness(context.WithoutCancel(ctx), cc)
		}
	}
}

// wait waits for another state, but not for long: after a first attempt that
// failed, gRPC tells only of one that succeeds.
func wait(ctx context.Context, cc *grpc.ClientConn, state connectivity.State) {
	ctx, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
	defer cancel()
	cc.WaitForStateChange(ctx, state)
}

// hindrance says why there is no connection; nil when that may still change.
func (l *link) hindrance(ctx context.Context, cc *grpc.ClientConn, impatient bool) error {
	l.mu.Lock()
	refused, e := l.refused, &ConnectError{Network: l.network, Address: l.address, Stage: l.stage, Err: l.err}
	l.mu.Unlock()
	if refused != nil {
		return refused
	}
	if e.Stage == stageHTTP2 {
		e.Err = l.reason(ctx, cc)
	}
	if e.Err == nil || late(e.Err) || e.Stage == stageConnect && !impatient {
		return nil
	}
	return e
}

// lateness says why there is no connection when the limit is reached.
func (l *link) lateness(ctx context.Context, cc *grpc.ClientConn) error {
	if err := l.hindrance(ctx, cc, true); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return &ConnectError{Network: l.network, Address: l.address, Stage: cmp.Or(l.stage, stageConnect), Limit: l.limit}
}

// late tells whether an attempt took so long that our side ended it.
func late(err error) bool {
	var timeout net.Error
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) ||
		errors.Is(err, net.ErrClosed) || // by gRPC, when the attempt took too long
		errors.As(err, &timeout) && timeout.Timeout()
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
	for _, other := range []string{
		// gRPC closes a connection that took too long, and reports its own doing.
		net.ErrClosed.Error(), context.DeadlineExceeded.Error(),
		// An earlier attempt, while the last one is under way.
		"transport: error while dialing", "transport: authentication handshake failed",
	} {
		if strings.Contains(strings.ToLower(text), other) {
			return nil
		}
	}
	return errors.New(text)
}

// bare leaves out what the message around it says already.
func bare(err error) error {
	var (
		op   *net.OpError
		call *os.SyscallError
	)
	switch {
	case errors.As(err, &call):
		return call.Err
	case errors.As(err, &op):
		return op.Err
	}
	return err
}
