package grpcplugin

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"strings"
	"syscall"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"
	"github.com/hashicorp/go-plugin/runner"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/proc"
)

const (
	stdioService  = "/plugin.GRPCStdio/"
	brokerService = "/plugin.GRPCBroker/"

	// retryLimit is how long to retry the connection to a plugin that printed its
	// handshake before it listens.
	retryLimit = time.Second
)

// connect makes go-plugin's client, which connects to the address in the handshake.
func (n *launch) connect() *hook.Error {
	began := time.Now()
	defer func() { n.evidence.Connect = time.Since(began) }()
	ctx, cancel := context.WithTimeout(n.ctx, n.cfg.ConnectTimeout)
	defer cancel()
	go func() { // ends with ctx
		select {
		case <-n.proc.Done():
			cancel()
		case <-ctx.Done():
		}
	}()
	line := n.evidence.Line
	if n.tls != nil {
		certificate, err := x509.ParseCertificate(line.Cert)
		if err != nil { // handshake.Parse has read it
			return &hook.Error{Kind: hook.Internal, Err: err}
		}
		n.tls.RootCAs.AddCert(certificate)
	}
	t := &target{
		network: line.Network, address: line.Address, tls: n.tls, metadata: n.cfg.Metadata, limit: n.cfg.ConnectTimeout, retry: retryLimit,
		leader: n.proc.PID(),
	}
	// The plugin runs already, and its line was verified: for go-plugin that is a
	// plugin to reattach to.
	client := plugin.NewClient(&plugin.ClientConfig{
		Reattach: &plugin.ReattachConfig{
			Protocol: plugin.ProtocolGRPC, ProtocolVersion: line.App, Addr: &net.UnixAddr{Name: line.Address}, Test: true,
			ReattachFunc: func() (runner.AttachedRunner, error) { return attached{done: n.proc.Done()}, nil },
		},
		GRPCDialOptions: append(t.options(), grpc.WithStreamInterceptor(n.streamInterceptor(ctx, t)),
			grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(n.cfg.maxReflection()))),
		Logger:     hclog.NewNullLogger(),
		SyncStdout: n.out.writer(proc.Stdout),
		SyncStderr: n.out.writer(proc.Stderr),
	})
	protocol, err := client.Client()
	if err != nil {
		return n.notConnected(&hook.Error{Kind: hook.Handshake, Err: fmt.Errorf("go-plugin: %w", err)})
	}
	n.protocol, n.conn = protocol, protocol.(*plugin.GRPCClient).Conn
	if herr := t.ready(ctx, n.conn); herr != nil {
		return n.notConnected(herr)
	}
	return nil
}

// attached is the process as go-plugin knows it. Of a plugin to reattach to for a
// test, which is not go-plugin's to kill, it only waits for the end.
type attached struct {
	runner.AttachedRunner
	done <-chan struct{}
}

func (a attached) Wait(context.Context) error {
	<-a.done
	return nil
}

// streamInterceptor handles the streams that go-plugin opens for itself. Those on a
// Python plugin are refused: with one thread, each would keep it from all else. On
// others the first one waits until the connection is ready, so that go-plugin does
// not wait longer than connecting lasts.
func (n *launch) streamInterceptor(connecting context.Context, t *target) grpc.StreamClientInterceptor {
	return func(ctx context.Context, desc *grpc.StreamDesc, cc *grpc.ClientConn, method string,
		streamer grpc.Streamer, opts ...grpc.CallOption,
	) (grpc.ClientStream, error) {
		stdio := strings.HasPrefix(method, stdioService)
		switch {
		case ctx.Value(ownKey{}) != nil:
			return streamer(ctx, desc, cc, method, opts...)
		case n.cfg.Python && (stdio || strings.HasPrefix(method, brokerService)):
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

// notConnected is the error for a missing connection: that of the process if it has
// exited.
func (n *launch) notConnected(e *hook.Error) *hook.Error {
	if n.ctx.Err() != nil {
		return hook.Ended(n.ctx, "", "no connection", false)
	}
	// What the process does not serve any more may look like another fault.
	if n.proc.Exited() || n.proc.Exiting() && n.exits() {
		return n.exitedEarly(nil)
	}
	switch {
	case e.Reason == ReasonTLS, e.Reason == ReasonNoAnswer && n.tls != nil:
		e.Hints = []string{"serve with the certificate that the handshake names, and trust the one in PLUGIN_CLIENT_CERT"}
	case errors.Is(e, syscall.ECONNREFUSED), errors.Is(e, fs.ErrNotExist):
		e.Hints = []string{"print the handshake when the server listens, with the port that it listens on"}
	}
	return e
}
