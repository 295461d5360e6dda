package commands

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"slices"

	"github.com/urfave/cli/v2"

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
}

// flags are those of a server; some set what cfg says of the connection.
func (o *addressOptions) flags(cfg *runner.GRPC) []cli.Flag {
	address := alias(nameFlag(&o.address, "address", "ask the server at `ADDRESS`, HOST:PORT or unix:/PATH"), "addr")
	address.isPlugin = true
	return inCategory(addressCategory,
		address,
		durationFlag(&cfg.ConnectTimeout, "connect-timeout", "wait for the connection for `DURATION` (default: 5s)"),
		nameFlag(&cfg.UserAgent, "user-agent", "send `NAME` as the user agent"),
		then(switchFlag(&o.tls, "tls", "use TLS; --tls=false disables it"), func() { o.tlsGiven = true }),
		alias(fileFlag(&o.files.CA, "tls-ca-cert", "trust the authorities in `FILE` (default: the system's)"), "cacert"),
		alias(fileFlag(&o.files.Cert, "tls-client-cert", "send the certificate in `FILE`"), "cert"),
		alias(fileFlag(&o.files.Key, "tls-client-key", "use the key in `FILE` with it"), "key"),
		nameFlag(&o.files.ServerName, "tls-server-name", "expect a certificate for `NAME`"),
		switchFlag(&o.files.NoVerify, "tls-no-verify", "accept any certificate"),
	)
}

// isGiven reports whether --address is given. If it is, isGiven rejects the flags that start a
// plugin, except those in concern. Otherwise it rejects the flags for a server.
func (o *addressOptions) isGiven(own, ofPlugin []cli.Flag, concern ...string) (bool, error) {
	if o.address == "" {
		if name := firstTyped(own); name != "" {
			return false, usage("%s applies only with --address", name)
		}
		return false, nil
	}
	others := slices.DeleteFunc(slices.Clone(ofPlugin), func(flag cli.Flag) bool { return slices.Contains(concern, flag.Names()[0]) })
	if name := firstTyped(others); name != "" {
		return true, usage("%s does not apply to --address, which starts no plugin", name)
	}
	return true, nil
}

// messageFlags are the flags of a gRPC plugin that also apply to calls of a server.
var messageFlags = []string{"emit-defaults", "header", "max-message", "proto", "proto-path", "protoset"}

// connectAddress connects to the server at the address. Without a flag on TLS, secure decides.
func (prog *program) connectAddress(ctx context.Context, o *addressOptions, cfg runner.Config, secure bool) (*plugin, error) {
	p := &plugin{prog: prog, path: o.address}
	p.follow(&cfg)
	err := openConfig(&cfg, "")
	if err == nil {
		cfg.GRPC.TLS, err = o.readTLS(ctx, secure)
	}
	if err != nil {
		return nil, err
	}
	defer prog.streams.Waiting("connecting to " + o.address)()
	p.server, err = runner.Connect(ctx, o.address, cfg)
	return p, p.failed(err)
}

// healthOfAddress probes a server that runs already. Without a flag on TLS it connects without, as
// grpc-health-probe does.
func (prog *program) healthOfAddress(ctx context.Context, words []string, at *addressOptions, cfg runner.Config, watch bool) error {
	if err := atMost(words, 0); err != nil {
		return err
	}
	p, err := prog.connectAddress(ctx, at, cfg, false)
	if err != nil {
		return err
	}
	defer p.close()
	probe := func() error {
		ctx, cancel := hook.WithLimit(ctx, cmp.Or(cfg.Timeouts.Probe, runner.DefaultProbe))
		defer cancel()
		return p.server.Health(ctx)
	}
	if watch {
		return p.failed(p.watchHealth(ctx, probe))
	}
	return p.failed(p.health(ctx, "", probe))
}

// readTLS checks the flags on TLS, and reads their files. Without such a flag, secure decides.
func (o *addressOptions) readTLS(ctx context.Context, secure bool) (*tls.Config, error) {
	files := o.files != (runner.TLSFiles{})
	switch {
	case o.tlsGiven && !o.tls && files:
		return nil, usage("--tls=false cannot be combined with certificate flags")
	case o.files.NoVerify && (o.files.CA != "" || o.files.ServerName != ""):
		return nil, usage("--tls-no-verify accepts any certificate: it excludes --tls-ca-cert and --tls-server-name")
	case o.tlsGiven && !o.tls, !o.tlsGiven && !files && !secure:
		return nil, nil
	}
	read, err := hook.Interruptible(ctx, o.files.Config) // a file may be a pipe
	if e := (*hook.Error)(nil); err != nil && !errors.As(err, &e) {
		return nil, usage("TLS: %w", err)
	}
	return read, err
}

// probeCode returns the exit code of grpc-health-probe for an error.
func probeCode(err error) int {
	code := exitCode(err)
	switch e := asError(err); {
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
