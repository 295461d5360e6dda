package grpcplugin

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"
	"github.com/hashicorp/go-plugin/runner"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	_ "google.golang.org/grpc/encoding/gzip" // servers may compress their answers
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/proc"
	"github.com/pyplug/pyplug/runner/schema"
)

const (
	stdioService  = "/plugin.GRPCStdio/"
	brokerService = "/plugin.GRPCBroker/"

	// retryLimit is how long to retry the connection to a plugin that printed its handshake before
	// it listens.
	retryLimit = time.Second
)

// connect creates go-plugin's client, which connects to the address in the handshake.
func (l *launch) connect() *hook.Error {
	began := time.Now()
	defer func() { l.evidence.Connect = time.Since(began) }()
	ctx, cancel := context.WithTimeout(l.ctx, l.cfg.ConnectTimeout)
	defer cancel()
	go func() { // ends with ctx
		select {
		case <-l.proc.Done():
			cancel()
		case <-ctx.Done():
		}
	}()
	line := l.evidence.Line
	if l.tls != nil {
		certificate, _ := x509.ParseCertificate(line.Cert) // handshake.Parse has checked it
		l.tls.RootCAs.AddCert(certificate)
	}
	t := &target{
		network: line.Network, address: line.Address, tls: l.tls,
		limit: l.cfg.ConnectTimeout, retry: retryLimit, leader: l.proc.PID(),
	}
	// The plugin already runs, and its line was verified. go-plugin calls that reattaching.
	client := plugin.NewClient(&plugin.ClientConfig{
		Reattach: &plugin.ReattachConfig{
			Protocol: plugin.ProtocolGRPC, ProtocolVersion: line.App, Addr: &net.UnixAddr{Name: line.Address}, Test: true,
			ReattachFunc: func() (runner.AttachedRunner, error) { return attached{done: l.proc.Done()}, nil },
		},
		GRPCDialOptions: append(t.options(l.cfg), grpc.WithStreamInterceptor(l.streamInterceptor(ctx, t))),
		Logger:          hclog.NewNullLogger(),
		SyncStdout:      l.out.writer(proc.Stdout),
		SyncStderr:      l.out.writer(proc.Stderr),
	})
	protocol, err := client.Client()
	if err != nil {
		return l.notConnected(&hook.Error{Kind: hook.Handshake, Err: fmt.Errorf("go-plugin: %w", err)})
	}
	l.protocol, l.conn = protocol, protocol.(*plugin.GRPCClient).Conn
	if herr := t.ready(ctx, l.conn); herr != nil {
		return l.notConnected(herr)
	}
	l.evidence.Exposed = isExposed(line.Address)
	return nil
}

// attached is the process as go-plugin sees it. go-plugin only waits for its end: it never kills a
// plugin that it reattached to for a test.
type attached struct {
	runner.AttachedRunner
	done <-chan struct{}
}

func (a attached) Wait(context.Context) error {
	<-a.done
	return nil
}

// streamInterceptor handles the streams that go-plugin opens for itself. It rejects them for a
// Python plugin, because each would occupy a thread, perhaps the only one. For other plugins the
// stdio stream waits until the connection is ready or has failed, so that go-plugin waits no longer
// than that.
func (l *launch) streamInterceptor(connecting context.Context, t *target) grpc.StreamClientInterceptor {
	return func(ctx context.Context, desc *grpc.StreamDesc, cc *grpc.ClientConn, method string,
		streamer grpc.Streamer, opts ...grpc.CallOption,
	) (grpc.ClientStream, error) {
		stdio := strings.HasPrefix(method, stdioService)
		switch {
		case ctx.Value(ownKey{}) != nil:
			return streamer(ctx, desc, cc, method, opts...)
		case l.cfg.Python && (stdio || strings.HasPrefix(method, brokerService)):
			return nil, status.Error(codes.Unimplemented, "not opened on a python plugin")
		case stdio:
			if herr := t.ready(connecting, cc); herr != nil {
				return nil, status.Error(codes.Unavailable, herr.Error())
			}
		}
		stream, err := streamer(ctx, desc, cc, method, opts...)
		if err != nil && stdio {
			// With any other code go-plugin would leave the connection open.
			return nil, status.Error(codes.Unavailable, err.Error())
		}
		return stream, err
	}
}

// notConnected returns the error for a missing connection. If the process has exited, it returns
// the error of the exit.
func (l *launch) notConnected(e *hook.Error) *hook.Error {
	if l.ctx.Err() != nil {
		return hook.Ended(l.ctx, "", "no connection", false)
	}
	// A process that is exiting no longer serves, which may look like another fault.
	if l.proc.Exited() || l.proc.Exiting() && l.exits() {
		return l.exitedEarly(nil)
	}
	switch {
	case e.Reason == ReasonTLS, e.Reason == ReasonNoAnswer && l.tls != nil:
		e.Hints = []schema.Hint{tlsHint(e.Error())}
	case e.Reason == ReasonNotGRPC && endedConnection(e.Error()):
		e.Hints = schema.Hints("serve without TLS unless PLUGIN_CLIENT_CERT is set; if it is, print the certificate as the sixth field, and pass %s",
			schema.Setting("mtls"))
	case errors.Is(e, syscall.ECONNREFUSED), errors.Is(e, fs.ErrNotExist):
		e.Hints = schema.Hints("print the handshake when the server listens, with the port that it listens on")
	}
	return e
}

// target is the address of a server with the way to connect to it. A caller creates a gRPC client
// with the options and waits until the target is ready.
type target struct {
	network, address string
	tls              *tls.Config // nil without TLS
	// limit is the timeout of ready's context, for messages.
	limit time.Duration
	// retry is how long to retry while the server rejects or closes connections.
	retry time.Duration
	// leader is the plugin's process. It or a descendant must own the other end of each
	// connection.
	leader int

	once     sync.Once // protects notReady
	notReady *hook.Error

	accepted atomic.Bool           // whether the server accepted a connection
	dialErr  atomic.Pointer[error] // the error of the last attempt
}

const (
	firstDelay = 10 * time.Millisecond // delay between the first attempts to connect
	maxDelay   = 100 * time.Millisecond
)

// options returns the options of a gRPC client of the target.
func (t *target) options(cfg *Config) []grpc.DialOption {
	return []grpc.DialOption{
		grpc.WithContextDialer(t.dial),
		grpc.WithTransportCredentials(t.credentials()),
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff:           backoff.Config{BaseDelay: firstDelay, Multiplier: 1.6, Jitter: 0.2, MaxDelay: maxDelay},
			MinConnectTimeout: t.limit,
		}),
		grpc.WithStatsHandler(rpcHandler{cfg.Metadata}),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(cfg.maxReflection())),
		grpc.WithDisableServiceConfig(),
		grpc.WithNoProxy(),
	}
}

func (t *target) credentials() credentials.TransportCredentials {
	if t.tls == nil {
		return insecure.NewCredentials()
	}
	return credentials.NewTLS(t.tls)
}

// dial makes a connection for gRPC, and keeps its error, because gRPC reports errors only as text.
func (t *target) dial(ctx context.Context, _ string) (net.Conn, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, t.network, t.address)
	if err == nil {
		t.accepted.Store(true)
		if err = CheckPeer(ctx, conn, t.leader); err != nil {
			conn.Close()
		}
	}
	if timeout := (net.Error)(nil); ctx.Err() == nil && !(errors.As(err, &timeout) && timeout.Timeout()) {
		t.dialErr.Store(&err)
	}
	return conn, err
}

// ready waits until TLS and HTTP/2 work over the connection of a client. Later calls
// return the first result.
func (t *target) ready(ctx context.Context, cc *grpc.ClientConn) *hook.Error {
	t.once.Do(func() { t.notReady = t.await(ctx, cc) })
	return t.notReady
}

func (t *target) await(ctx context.Context, cc *grpc.ClientConn) *hook.Error {
	for began := time.Now(); ctx.Err() == nil; {
		state := cc.GetState()
		switch state {
		case connectivity.Ready:
			return nil
		case connectivity.Idle:
			cc.Connect()
		case connectivity.TransientFailure:
			if herr := t.attemptError(ctx, cc, time.Since(began) < t.retry); herr != nil {
				return herr
			}
		}
		// Wait only briefly: after a failure gRPC reports no further failures.
		wait, cancel := context.WithTimeout(ctx, maxDelay)
		cc.WaitForStateChange(wait, state)
		cancel()
	}
	wanted := "HTTP/2"
	if t.tls != nil {
		wanted = "TLS"
	}
	if !t.accepted.Load() {
		return t.errorf(ReasonNoConnection, "cannot connect to %s: no answer within %s", t, t.limit)
	}
	return t.errorf(ReasonNoAnswer, "%s accepts connections but does not answer within %s, expected %s", t, t.limit, wanted)
}

// attemptError returns the error of the last failed attempt, or nil if another attempt may succeed.
func (t *target) attemptError(ctx context.Context, cc *grpc.ClientConn, retry bool) *hook.Error {
	var err error
	if last := t.dialErr.Load(); last != nil {
		err = *last
	}
	switch own := asError(err); {
	case own != nil:
		return own
	case err != nil && retry:
		return nil
	case err != nil:
		return t.errorf(ReasonNoConnection, "cannot connect to %s: %w", t, cause(err))
	}
	text := failureText(ctx, cc)
	inner, handshake := strings.CutPrefix(text, "transport: authentication handshake failed: ")
	switch at := strings.Index(text, "remote error: tls: "); {
	case text == "", retry && endedConnection(text):
		return nil
	case handshake:
		return t.errorf(ReasonTLS, "TLS with %s failed: %s", t, inner)
	case at >= 0:
		return t.errorf(ReasonTLS, "TLS with %s failed: %s", t, text[at:])
	case t.tls != nil && endedConnection(text): // a server with TLS 1.3 rejects a certificate after the client's handshake
		return t.errorf(ReasonTLS, "TLS with %s failed: %s pyplug's certificate", t, endsAfter)
	}
	return t.errorf(ReasonNotGRPC, "%s does not speak HTTP/2, expected gRPC: %s", t, text)
}

// failureText returns gRPC's text for a failed connection, which gRPC returns only from a call. It
// returns "" if the text says only that the attempt timed out or was not made. In that case the
// error that dial stored says more.
func failureText(ctx context.Context, cc *grpc.ClientConn) string {
	ctx, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
	defer cancel()
	_, err := grpc_health_v1.NewHealthClient(cc).Check(ctx, &grpc_health_v1.HealthCheckRequest{})
	s := status.Convert(err)
	if s.Code() != codes.Unavailable {
		return ""
	}
	text := strings.TrimSuffix(strings.TrimPrefix(s.Message(), `connection error: desc = "`), `"`)
	// gRPC closes a connection that takes too long, and reports that.
	others := []string{"rror while dialing", net.ErrClosed.Error(), context.DeadlineExceeded.Error()}
	if slices.ContainsFunc(others, func(other string) bool { return strings.Contains(text, other) }) {
		return ""
	}
	return text
}

// endsAfter begins the message for a server that does not trust pyplug's certificate.
const endsAfter = "the server closed the connection after it received"

// endedConnection reports whether gRPC's text says that the server closed the connection
// without an answer. Such a server may be about to exit.
func endedConnection(text string) bool {
	for _, end := range []error{io.EOF, syscall.ECONNRESET, syscall.EPIPE} {
		if strings.HasSuffix(text, end.Error()) {
			return true
		}
	}
	return false
}

func (t *target) errorf(reason, format string, args ...any) *hook.Error {
	permanent := reason == ReasonTLS || reason == ReasonNotGRPC // a restarted server would serve the same protocol
	return &hook.Error{Kind: hook.Handshake, Reason: reason, Permanent: permanent, Err: fmt.Errorf(format, args...)}
}

// String returns the address as users write it.
func (t *target) String() string {
	if t.network == "unix" {
		return "unix:" + t.address
	}
	return t.address
}

// cause removes the parts of an error that the message around it already contains.
func cause(err error) error {
	if op := (*net.OpError)(nil); errors.As(err, &op) {
		err = op.Err
	}
	if call := (*os.SyscallError)(nil); errors.As(err, &call) {
		err = call.Err
	}
	return err
}
