package grpcplugin

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	"github.com/pyplug/pyplug/runner/hook"
)

// target is where a server should listen, and how to connect to it: dial, then a
// client with the options, then ready.
type target struct {
	network, address string
	tls              *tls.Config // nil: no TLS
	// limit bounds dial and ready together. It is only for messages: their
	// context ends then.
	limit time.Duration
	// retry is how long dial retries while nobody listens.
	retry time.Duration
	// check rejects the address before each connection; nil accepts it.
	check func() error

	dialed chan net.Conn // the connection that dial made, until gRPC uses it
}

const (
	firstDelay = 10 * time.Millisecond // between attempts to connect
	maxDelay   = 100 * time.Millisecond
)

// dial connects to the address.
func (t *target) dial(ctx context.Context) *hook.Error {
	t.dialed = make(chan net.Conn, 1)
	var failed error
	for began, delay := time.Now(), firstDelay; ; delay = min(2*delay, maxDelay) {
		conn, err := t.dialOnce(ctx)
		if err == nil {
			t.dialed <- conn
			return nil
		}
		if own := asError(err); own != nil {
			return own
		}
		var timeout net.Error
		late := ctx.Err() != nil || errors.As(err, &timeout) && timeout.Timeout()
		if !late {
			failed = cause(err)
		}
		switch {
		case late && failed == nil:
			return t.fail(ReasonNoConnection, "cannot connect to %s: no answer within %s", t, t.limit)
		case late || time.Since(began) >= t.retry:
			return t.fail(ReasonNoConnection, "cannot connect to %s: %w", t, failed)
		}
		select {
		case <-ctx.Done():
		case <-time.After(delay):
		}
	}
}

// dialOnce makes one attempt. A path that is no socket would refuse the connection,
// as if nobody listened.
func (t *target) dialOnce(ctx context.Context) (net.Conn, error) {
	if t.network == "unix" {
		// Not every system reports a socket as one.
		if info, err := os.Stat(t.address); err == nil && (info.Mode().IsRegular() || info.IsDir()) {
			kind := "file"
			if info.IsDir() {
				kind = "directory"
			}
			return nil, t.fail(ReasonNoConnection, "cannot connect to %s: it is a %s, want a socket", t, kind)
		}
	}
	if t.check != nil {
		if err := t.check(); err != nil {
			return nil, err
		}
	}
	var d net.Dialer
	return d.DialContext(ctx, t.network, t.address)
}

// close closes the connection that dial made if gRPC has not used it.
func (t *target) close() {
	select {
	case conn := <-t.dialed:
		conn.Close()
	default:
	}
}

// options are those of a gRPC client of the target. Its first connection is the one
// that dial made.
func (t *target) options() []grpc.DialOption {
	return []grpc.DialOption{
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) {
			select {
			case conn := <-t.dialed:
				return conn, nil
			default:
				return t.dialOnce(ctx)
			}
		}),
		grpc.WithTransportCredentials(transportCredentials(t.tls)),
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff:           backoff.Config{BaseDelay: firstDelay, Multiplier: 1.6, Jitter: 0.2, MaxDelay: maxDelay},
			MinConnectTimeout: t.limit,
		}),
		grpc.WithStatsHandler(trailerHandler{}),
		grpc.WithDisableServiceConfig(),
		grpc.WithNoProxy(),
	}
}

// ready waits until TLS and HTTP/2 work over the connection.
func (t *target) ready(ctx context.Context, cc *grpc.ClientConn) *hook.Error {
	for cc.Connect(); ; {
		state := cc.GetState()
		switch state {
		case connectivity.Ready:
			return nil
		case connectivity.Idle:
			cc.Connect()
		case connectivity.TransientFailure:
			if text := failureText(ctx, cc); text != "" {
				return t.refused(text)
			}
		}
		// Not for long: after a failure gRPC reports only a success.
		wait, cancel := context.WithTimeout(ctx, maxDelay)
		cc.WaitForStateChange(wait, state)
		cancel()
		if ctx.Err() != nil {
			want := "HTTP/2"
			if t.tls != nil {
				want = "TLS"
			}
			return t.fail(ReasonNoAnswer, "%s accepts connections but does not answer within %s, want %s", t, t.limit, want)
		}
	}
}

// failureText is gRPC's text for a failed connection, which it returns only from a
// call; empty if all it knows is that the attempt took too long.
func failureText(ctx context.Context, cc *grpc.ClientConn) string {
	ctx, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
	defer cancel()
	_, err := grpc_health_v1.NewHealthClient(cc).Check(ctx, &grpc_health_v1.HealthCheckRequest{})
	s, ok := status.FromError(err)
	if !ok || s.Code() != codes.Unavailable {
		return ""
	}
	text := s.Message()
	if inner, found := strings.CutPrefix(text, `connection error: desc = "`); found {
		text = strings.TrimSuffix(inner, `"`)
	}
	// gRPC closes a connection that takes too long, and reports that.
	if strings.Contains(text, net.ErrClosed.Error()) || strings.Contains(text, context.DeadlineExceeded.Error()) {
		return ""
	}
	return text
}

// refused is the error for gRPC's text.
func (t *target) refused(text string) *hook.Error {
	const remote = "remote error: tls: "
	if strings.Contains(text, remote+"certificate required") {
		return t.fail(ReasonClientCertificate, "no TLS with %s: the server wants a client certificate", t)
	}
	if inner, found := strings.CutPrefix(text, "transport: authentication handshake failed: "); found {
		return t.fail(ReasonTLS, "no TLS with %s: %s", t, inner)
	}
	if at := strings.Index(text, remote); at >= 0 {
		return t.fail(ReasonTLS, "no TLS with %s: %s", t, text[at:])
	}
	return t.fail(ReasonNotGRPC, "%s does not speak HTTP/2, want gRPC: %s", t, text)
}

func (t *target) fail(reason, format string, args ...any) *hook.Error {
	return &hook.Error{Kind: hook.Handshake, Reason: reason, Err: fmt.Errorf(format, args...)}
}

// String is the address as a user writes it.
func (t *target) String() string {
	if t.network == "unix" {
		return "unix:" + t.address
	}
	return t.address
}

// cause drops from an error what the message around it says already.
func cause(err error) error {
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
