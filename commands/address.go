package commands

import (
	"context"
	"crypto/tls"
	"errors"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/pyplug/pyplug/commands/cmdline"
	"github.com/pyplug/pyplug/runner"
	"github.com/pyplug/pyplug/runner/hook"
)

const addressCategory = "Running gRPC servers"

// addressOptions are the flags for a server that pyplug does not start. Their names are those
// of grpc-health-probe and grpcurl.
type addressOptions struct {
	address       string
	tls, tlsGiven bool
	files         runner.TLSFiles
	// insecure makes a connection without a flag on TLS an open one, as grpc-health-probe does.
	// Otherwise only a connection inside this machine is.
	insecure bool
	own      cmdline.Flags // those of flags
}

// flags are those of a server; some set what cfg says of the connection.
func (o *addressOptions) flags(cfg *runner.GRPC) cmdline.Flags {
	address := cmdline.Name(&o.address, "address", "ask the server at `ADDRESS`, HOST:PORT or unix:/PATH").Alias("addr")
	address.NamesPlugin = true
	o.own = cmdline.InCategory(addressCategory,
		address,
		cmdline.Duration(&cfg.ConnectTimeout, "connect-timeout", "wait for the connection for `DURATION` (default: 5s)"),
		cmdline.Name(&cfg.UserAgent, "user-agent", "send `NAME` as the user agent"),
		cmdline.Switch(&o.tls, "tls", "use TLS; --tls=false disables it").Then(func() { o.tlsGiven = true }),
		cmdline.File(&o.files.CA, "tls-ca-cert", "trust the authorities in `FILE` (default: the system's)").Alias("cacert"),
		cmdline.File(&o.files.Cert, "tls-client-cert", "send the certificate in `FILE`").Alias("cert"),
		cmdline.File(&o.files.Key, "tls-client-key", "use the key in `FILE` with it").Alias("key"),
		cmdline.Name(&o.files.ServerName, "tls-server-name", "expect a certificate for `NAME`"),
		cmdline.Switch(&o.files.NoVerify, "tls-no-verify", "accept any certificate"),
	)
	return o.own
}

// check rejects, with an address, the flags that start a plugin, except those in concern. Without
// one it rejects the flags for a server.
func (o *addressOptions) check(ofPlugin cmdline.Flags, concern ...string) error {
	if o.address == "" {
		return cmdline.Only(false, "with --address", o.own)
	}
	others := slices.DeleteFunc(slices.Clone(ofPlugin), func(flag cli.Flag) bool { return slices.Contains(concern, flag.Names()[0]) })
	if name := cmdline.FirstTyped(others); name != "" {
		return cmdline.Usage("%s does not apply to --address, which starts no plugin", name)
	}
	return nil
}

// messageFlags are the flags of a gRPC plugin that also apply to calls of a server.
var messageFlags = []string{"emit-defaults", "header", "max-message", "proto", "proto-path", "protoset"}

// connectAddress connects to the server at the address.
func (prog *program) connectAddress(ctx context.Context, o *addressOptions, cfg runner.Config) (*plugin, error) {
	p := &plugin{prog: prog, path: o.address}
	p.follow(&cfg)
	err := openConfig(&cfg, "")
	if err == nil {
		cfg.GRPC.TLS, err = o.readTLS(ctx)
	}
	if err != nil {
		return nil, err
	}
	defer prog.streams.Waiting("connecting to " + o.address)()
	p.server, err = runner.Connect(ctx, o.address, cfg)
	return p, p.failed(err)
}

// readTLS checks the flags on TLS, and reads their files. It returns nil for an open connection.
func (o *addressOptions) readTLS(ctx context.Context) (*tls.Config, error) {
	files, open := o.files != (runner.TLSFiles{}), o.insecure || runner.IsLocal(o.address)
	switch {
	case o.tlsGiven && !o.tls && files:
		return nil, cmdline.Usage("--tls=false cannot be combined with certificate flags")
	case o.files.NoVerify && (o.files.CA != "" || o.files.ServerName != ""):
		return nil, cmdline.Usage("--tls-no-verify accepts any certificate: it excludes --tls-ca-cert and --tls-server-name")
	case o.tlsGiven && !o.tls, !o.tlsGiven && !files && open:
		return nil, nil
	}
	read, err := hook.Interruptible(ctx, o.files.Config) // a file may be a pipe
	if e := (*hook.Error)(nil); err != nil && !errors.As(err, &e) {
		return nil, cmdline.Usage("TLS: %w", err)
	}
	return read, err
}

// probeCode returns the exit code of grpc-health-probe for an error.
func probeCode(err error) int {
	code := exitCode(err)
	switch e := hook.AsError(err); {
	case code == 0, code > 128, e.Kind == hook.Internal:
		return code
	case e.Kind == hook.Usage:
		return 1
	case e.Reason == runner.ReasonNotServing: // an unknown service has no status
		return 4
	case e.Kind == hook.Unhealthy, e.Kind == hook.Timeout, e.Kind == hook.Failed, e.Kind == hook.Crash:
		return 3
	}
	return 2
}
