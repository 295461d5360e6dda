package grpcplugin

import (
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"strings"
	"time"

	"google.golang.org/grpc"

	"github.com/pyplug/pyplug/runner/hook"
)

// AddressOptions says how to ask a server for its health. The zero value asks for
// the server as a whole, without TLS.
type AddressOptions struct {
	// Service is the service's name; empty is the server as a whole.
	Service string
	// TLS is nil for none; see [TLSFiles].
	TLS *tls.Config
	// ConnectTimeout bounds the connection, Timeout the answer; 0 means 5 s
	// and 2 s. A watch does not bound its answers.
	ConnectTimeout, Timeout time.Duration
	// Metadata is sent with the request, as pairs of name and value.
	Metadata []string
	// UserAgent is sent, too; empty is gRPC's own.
	UserAgent string
}

// ProbeAddress asks the server at unix:PATH or HOST:PORT for its health. It returns
// nil if that is SERVING, else a [*hook.Error]:
//
//   - Usage if the address is malformed,
//   - Handshake if there is no connection,
//   - Unhealthy for another status, for a server without a health service, and with
//     Status set if the service answers with an error of its own,
//   - Timeout and Canceled.
func ProbeAddress(ctx context.Context, address string, o AddressOptions) error {
	cc, herr := connectTo(ctx, address, &o, 0)
	if herr != nil {
		return herr
	}
	defer cc.Close()
	ctx, cancel := hook.WithLimit(ctx, o.Timeout)
	defer cancel()
	name, err := healthStatus(ctx, cc, o.Service)
	if err != nil {
		return healthFailed(ctx, err)
	}
	return notServing(o.Service, name)
}

// WatchAddress follows the health of a server and passes the name of each status to
// report. It returns a [*hook.Error] as ProbeAddress does: Canceled if ctx ends or
// report returns an error.
func WatchAddress(ctx context.Context, address string, o AddressOptions, report func(status string) error) error {
	cc, herr := connectTo(ctx, address, &o, 0)
	if herr != nil {
		return herr
	}
	defer cc.Close()
	return healthFailed(ctx, watchHealth(ctx, cc, o.Service, report))
}

// connectTo connects to an address. It sets the defaults of o. Calls whose answers have no
// other limit take maxAnswer bytes, or gRPC's default if it is 0.
func connectTo(ctx context.Context, address string, o *AddressOptions, maxAnswer int) (*grpc.ClientConn, *hook.Error) {
	o.ConnectTimeout = cmp.Or(o.ConnectTimeout, defaultConnect)
	o.Timeout = cmp.Or(o.Timeout, probeLimit)
	network, where, authority, err := splitAddress(address)
	if err != nil {
		return nil, &hook.Error{Kind: hook.Usage, Err: err}
	}
	t := &target{network: network, address: where, tls: o.TLS, metadata: o.Metadata, limit: o.ConnectTimeout}
	options := t.options()
	if maxAnswer > 0 {
		options = append(options, grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxAnswer)))
	}
	if o.UserAgent != "" {
		options = append(options, grpc.WithUserAgent(o.UserAgent))
	}
	cc, err := grpc.NewClient("passthrough:///"+authority, options...)
	if err != nil {
		return nil, &hook.Error{Kind: hook.Usage, Err: err}
	}
	within, cancel := hook.WithLimit(ctx, o.ConnectTimeout)
	defer cancel()
	herr := t.ready(within, cc)
	if herr == nil {
		return cc, nil
	}
	cc.Close()
	switch {
	case ctx.Err() != nil:
		return nil, hook.Ended(ctx, "", "no connection", false)
	case len(herr.Hints) > 0 || herr.Reason == ReasonNoConnection:
	case o.TLS == nil:
		herr.Hints = []string{"if the server wants TLS, pass --tls"}
	default:
		herr.Hints = []string{"pass --tls=false if the server has no TLS; name the authority of its certificate with --cacert"}
	}
	return nil, herr
}

// IsLocal reports whether an address is a Unix socket or a loopback address.
func IsLocal(address string) bool {
	network, where, _, err := splitAddress(address)
	host, _, _ := net.SplitHostPort(where)
	ip := net.ParseIP(host)
	return err == nil && (network == "unix" || host == "localhost" || ip != nil && ip.IsLoopback())
}

// splitAddress parses unix:PATH, unix:///PATH and HOST:PORT. It accepts
// dns:HOST:PORT and passthrough:HOST:PORT, with or without ///, for what gRPC does
// anyway.
func splitAddress(address string) (network, where, authority string, err error) {
	if path, ok := strings.CutPrefix(address, "unix:"); ok {
		path = strings.TrimPrefix(path, "//")
		if path == "" {
			return "", "", "", fmt.Errorf("the address %q does not name a socket, want unix:/path", address)
		}
		return "unix", path, certificateName, nil
	}
	where = address
	for _, scheme := range []string{"dns:", "passthrough:"} {
		if rest, ok := strings.CutPrefix(address, scheme); ok && strings.Contains(rest, ":") {
			where = strings.TrimPrefix(rest, "///")
		}
	}
	if _, port, err := net.SplitHostPort(where); err != nil || port == "" || strings.Contains(where, "/") {
		return "", "", "", fmt.Errorf("the address %q is neither host:port nor unix:/path", address)
	}
	return "tcp", where, where, nil
}
