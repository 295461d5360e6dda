package grpcplugin

import (
	"context"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

// Server is a gRPC server that runs already. It is safe for concurrent use.
type Server struct{ instance *Instance }

// Connect connects to the server at unix:PATH or HOST:PORT. Of cfg it uses what concerns
// messages: Metadata, MaxMessage, EmitDefaults, Extra and Debug. The error is a
// [*hook.Error], as that of [ProbeAddress].
func Connect(ctx context.Context, address string, o AddressOptions, cfg Config) (*Server, error) {
	cfg = New(cfg).cfg
	cfg.Service = o.Service
	i := newInstance(&cfg)
	var herr *hook.Error
	if i.conn, herr = connectTo(ctx, address, &o, cfg.maxReflection()); herr != nil {
		return nil, herr
	}
	return &Server{instance: i}, nil
}

// Call calls one method. See [Instance.Call].
func (s *Server) Call(ctx context.Context, c hook.Call) (hook.Result, error) {
	return s.instance.Call(ctx, c)
}

// Hooks lists the methods. If name is not empty, it describes only that one, in detail.
func (s *Server) Hooks(ctx context.Context, name string) (schema.Schema, error) {
	return s.instance.Describe(ctx, name)
}

// Close closes the connection.
func (s *Server) Close() { s.instance.conn.Close() }
