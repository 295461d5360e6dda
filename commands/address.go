package commands

import (
	"context"
	"crypto/tls"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/pyplug/pyplug/runner"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

const addressCategory = "gRPC servers that run already:"

// addressOptions are for asking a server that pyplug does not start. The names of the
// flags are those of grpc-health-probe, as far as it has them.
type addressOptions struct {
	address, userAgent, service string
	timeout, connect            time.Duration
	metadata                    []string
	tls                         bool
	files                       runner.TLSFiles
}

func (o *addressOptions) flags() []cli.Flag {
	address := nameFlag(&o.address, "address", "ask the server at `ADDRESS`, HOST:PORT or unix:/PATH")
	address.Aliases = []string{"addr"}
	return inCategory(addressCategory,
		address,
		durationFlag(&o.connect, "connect-timeout", "wait for the connection for `DURATION` (default: 5s)"),
		textFlag(&o.userAgent, "user-agent", "send `NAME` as the user agent"),
		switchFlag(&o.tls, "tls", "connect by TLS"),
		fileFlag(&o.files.CA, "tls-ca-cert", "trust the authorities in `FILE` (default: the system's)"),
		fileFlag(&o.files.Cert, "tls-client-cert", "send the certificate in `FILE`"),
		fileFlag(&o.files.Key, "tls-client-key", "use the key in `FILE` with it"),
		nameFlag(&o.files.ServerName, "tls-server-name", "expect a certificate for `NAME`"),
		switchFlag(&o.files.NoVerify, "tls-no-verify", "accept any certificate"),
	)
}

// startsNone rejects what makes sense only for a plugin that is started.
func (f *program) startsNone(c *cli.Context, ofPlugin []cli.Flag) error {
	others := slices.DeleteFunc(slices.Clone(ofPlugin), func(flag cli.Flag) bool { return flag.Names()[0] == "service" })
	if name := firstTyped(others); name != "" {
		return usage("%s is for a plugin that is started, and --address starts none", name)
	}
	if words := c.Args().Slice(); len(words) > 0 {
		return usage("%s is a PLUGIN and --address is given: want one of them", schema.QuoteLine(words[:1]))
	}
	return nil
}

// healthOfAddress asks a server that runs already.
func (f *program) healthOfAddress(c *cli.Context, at *addressOptions, ofPlugin []cli.Flag, watch bool) error {
	if err := f.startsNone(c, ofPlugin); err != nil {
		return err
	}
	o, err := at.options(c.Context)
	if err != nil {
		return err
	}
	address := at.address
	stop := f.streams.Waiting("asking " + address)
	defer stop()
	ctx := c.Context
	if f.endless = watch; watch {
		return runner.WatchAddress(ctx, address, o, func(status string) error { return f.printStatus(ctx, status) })
	}
	began := time.Now()
	if err := runner.ProbeAddress(ctx, address, o); err != nil {
		return err
	}
	stop()
	took := time.Since(began)
	return f.write(ctx, func() error { return f.streams.Healthy(took, hook.Info{}, f.opts.json) })
}

// options returns what they say of the server.
func (o *addressOptions) options(ctx context.Context) (runner.AddressOptions, error) {
	a := runner.AddressOptions{
		Service: o.service, Timeout: o.timeout, ConnectTimeout: o.connect, UserAgent: o.userAgent, Metadata: o.metadata,
	}
	switch {
	case !o.tls && o.files != (runner.TLSFiles{}):
		return a, usage("the --tls- flags say how TLS is done, and --tls is not given")
	case !o.tls:
		return a, nil
	case o.files.NoVerify && (o.files.CA != "" || o.files.ServerName != ""):
		return a, usage("--tls-no-verify accepts any certificate: it excludes --tls-ca-cert and --tls-server-name")
	}
	var err error
	a.TLS, err = hook.Interruptible(ctx, func() (*tls.Config, error) { // a file may be a pipe
		cfg, err := o.files.Config()
		if err != nil {
			return nil, usage("--tls: %w", err)
		}
		return cfg, nil
	})
	return a, err
}

// probeCode is the exit code that grpc-health-probe has for an error.
func probeCode(err error) int {
	code := exitCode(err)
	switch e := asError(err); {
	case code == 0, code > 128, e.Kind == hook.Internal:
		return code
	case e.Kind == hook.Usage:
		return 1
	case notServing(err):
		return 4
	case e.Kind == hook.Unhealthy, e.Kind == hook.Timeout, e.Kind == hook.Failed, e.Kind == hook.Crash:
		return 3
	}
	return 2
}

// notServing reports whether a server answered with another status than SERVING. For a
// service that it does not know it answers with none.
func notServing(err error) bool {
	return asError(err).Reason == runner.ReasonNotServing
}
