package grpcplugin

import (
	"context"
	"fmt"
	"net"
	"strings"

	"google.golang.org/grpc"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

// Server is a gRPC server that runs already: an [Instance] without a process, to call and to
// probe. It is safe for concurrent use.
type Server struct{ *Instance }

// Connect connects to the server at unix:PATH or HOST:PORT. It uses the fields of cfg for the
// connection, messages and health; an empty Service means the server as a whole. It returns
// a [*hook.Error] of kind
//
//   - Usage if the address is malformed,
//   - Handshake if there is no connection,
//   - Timeout or Canceled if ctx ends.
func Connect(ctx context.Context, address string, cfg Config) (*Server, error) {
	network, where, authority, err := splitAddress(address)
	if err != nil {
		return nil, &hook.Error{Kind: hook.Usage, Err: err}
	}
	service := cfg.Service
	cfg = New(cfg).cfg
	cfg.Service = service
	t := &target{network: network, address: where, tls: cfg.TLS, limit: cfg.ConnectTimeout}
	options := t.options(&cfg)
	if cfg.UserAgent != "" {
		options = append(options, grpc.WithUserAgent(cfg.UserAgent))
	}
	cc, err := grpc.NewClient("passthrough:///"+authority, options...)
	if err != nil {
		return nil, &hook.Error{Kind: hook.Usage, Err: err}
	}
	within, cancel := hook.WithLimit(ctx, cfg.ConnectTimeout)
	defer cancel()
	herr := t.ready(within, cc)
	if herr == nil {
		i := newInstance(&cfg)
		i.conn = cc
		return &Server{i}, nil
	}
	cc.Close()
	switch {
	case ctx.Err() != nil:
		return nil, hook.Ended(ctx, "", "no connection", false)
	case len(herr.Hints) > 0 || herr.Reason == ReasonNoConnection:
	case cfg.TLS == nil:
		herr.Hints = schema.Hints("if the server wants TLS, pass %s", schema.Setting("tls"))
	default:
		herr.Hints = schema.Hints("pass %s=false if the server has no TLS; name the authority of its certificate with %s", schema.Setting("tls"), schema.Setting("cacert"))
	}
	return nil, herr
}

// Hooks describes the methods, or one of them.
func (s *Server) Hooks(ctx context.Context, q schema.Query) (schema.Schema, error) {
	return s.Describe(ctx, q)
}

// Close closes the connection.
func (s *Server) Close() { s.conn.Close() }

// IsLocal reports whether an address is a Unix socket or a loopback address.
func IsLocal(address string) bool {
	network, where, _, err := splitAddress(address)
	host, _, _ := net.SplitHostPort(where)
	return err == nil && (network == "unix" || host == "localhost" || net.ParseIP(host).IsLoopback())
}

// splitAddress parses unix:PATH, unix:///PATH and HOST:PORT. It also accepts dns:HOST:PORT
// and passthrough:HOST:PORT, with or without ///, which mean the same.
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
