package grpcplugin

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	"github.com/pyplug/pyplug/runner/hook"
)

// AddressOptions say how a server is asked for its health. The zero value asks
// for the whole server, without TLS.
type AddressOptions struct {
	// Service is the name asked for; empty is the server as a whole.
	Service string
	// TLS is nil for none; see [TLSFiles].
	TLS *tls.Config
	// ConnectTimeout bounds the connection, Timeout the answer; 0 means 5 s
	// and 2 s. A watch has no bound for its answers.
	ConnectTimeout, Timeout time.Duration
	// Metadata is sent along, as pairs of name and value.
	Metadata []string
	// UserAgent is how we introduce ourselves; empty is gRPC's own.
	UserAgent string
}

// TLSFiles are what TLS needs, as files in PEM. The zero value is the system's
// authorities and no certificate of ours.
type TLSFiles struct {
	// CA holds the authorities that may have signed the server's certificate.
	CA string
	// Cert and Key are our own certificate, both or neither.
	Cert, Key string
	// ServerName is what the certificate has to be made out to; empty is the
	// host in the address. NoVerify takes any certificate.
	ServerName string
	NoVerify   bool
}

// Config reads the files.
func (f TLSFiles) Config() (*tls.Config, error) {
	cfg := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: f.ServerName, InsecureSkipVerify: f.NoVerify}
	if f.CA != "" {
		text, err := os.ReadFile(f.CA)
		if err != nil {
			return nil, err
		}
		cfg.RootCAs = x509.NewCertPool()
		if !cfg.RootCAs.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("%s: no certificate in PEM", f.CA)
		}
	}
	if (f.Cert == "") != (f.Key == "") {
		return nil, errors.New("a certificate and its key are given together or not at all")
	}
	if f.Cert != "" {
		pair, err := tls.LoadX509KeyPair(f.Cert, f.Key)
		if err != nil {
			return nil, err
		}
		cfg.Certificates = []tls.Certificate{pair}
	}
	return cfg, nil
}

// ProbeAddress asks a server at unix:PATH or HOST:PORT for its health, and
// starts nothing. It returns nil when that is SERVING, else an [*hook.Error]:
//
//   - Usage when the address cannot be read,
//   - Handshake when no connection comes about, with a [*ConnectError],
//   - Unhealthy with a [*HealthError] for another status, with a
//     [*NoHealthError] where health is not served, and with Status set when the
//     service answered with an error of its own,
//   - Timeout and Canceled.
func ProbeAddress(ctx context.Context, address string, o AddressOptions) error {
	cc, done, herr := reach(ctx, address, &o)
	if herr != nil {
		return herr
	}
	defer done()
	began := time.Now()
	ctx, cancel := context.WithTimeout(o.outgoing(ctx), o.Timeout)
	defer cancel()
	if herr := unhealthy(ctx, ask(ctx, cc, o.Service), began); herr != nil {
		return herr
	}
	return nil
}

// WatchAddress follows the health of a server: tell gets the name of each
// status that the server tells. It ends with an [*hook.Error] as ProbeAddress
// does: Canceled when ctx ends or tell returns an error.
func WatchAddress(ctx context.Context, address string, o AddressOptions, tell func(status string) error) error {
	cc, done, herr := reach(ctx, address, &o)
	if herr != nil {
		return herr
	}
	defer done()
	ctx = o.outgoing(ctx)
	began := time.Now()
	if herr := unhealthy(ctx, watch(ctx, cc, o.Service, tell), began); herr != nil {
		return herr
	}
	return nil
}

// outgoing adds the metadata.
func (o *AddressOptions) outgoing(ctx context.Context) context.Context {
	if len(o.Metadata) < 2 {
		return ctx
	}
	return metadata.AppendToOutgoingContext(ctx, o.Metadata[:len(o.Metadata)&^1]...)
}

// reach connects to an address. The options' defaults are filled in.
func reach(ctx context.Context, address string, o *AddressOptions) (*grpc.ClientConn, func(), *hook.Error) {
	if o.ConnectTimeout <= 0 {
		o.ConnectTimeout = defaultConnect
	}
	if o.Timeout <= 0 {
		o.Timeout = probeLimit
	}
	network, where, authority, err := splitAddress(address)
	if err != nil {
		return nil, nil, &hook.Error{Kind: hook.Usage, Err: err}
	}
	l := &link{network: network, address: where, limit: o.ConnectTimeout}
	options := append(l.options(), grpc.WithTransportCredentials(l.credentials(o.TLS)))
	if o.UserAgent != "" {
		options = append(options, grpc.WithUserAgent(o.UserAgent))
	}
	cc, err := grpc.NewClient("passthrough:///"+authority, options...)
	if err != nil {
		return nil, nil, &hook.Error{Kind: hook.Usage, Err: err}
	}
	began := time.Now()
	if err := l.connect(ctx, cc); err != nil {
		cc.Close()
		if ctx.Err() != nil {
			return nil, nil, hook.Ended(ctx, "", "no connection", began, false)
		}
		return nil, nil, &hook.Error{Kind: hook.Handshake, Err: err}
	}
	return cc, func() { cc.Close() }, nil
}

// splitAddress reads unix:PATH, unix:///PATH and HOST:PORT. The last may come as
// dns:HOST:PORT or passthrough:HOST:PORT, with or without ///, which name what gRPC
// does anyway.
func splitAddress(address string) (network, where, authority string, err error) {
	if path, ok := strings.CutPrefix(address, "unix:"); ok {
		path = strings.TrimPrefix(path, "//")
		if path == "" {
			return "", "", "", fmt.Errorf("the address %q names no socket, want unix:/path", address)
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
