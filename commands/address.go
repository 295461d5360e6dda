package commands

import (
	"context"
	"errors"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/pyplug/pyplug/runner"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

const addressCategory = "Running gRPC servers"

// addressOptions are for asking a server that pyplug does not start. The names of the
// flags are those of grpc-health-probe, as far as it has them.
type addressOptions struct {
	runner.AddressOptions
	address string
	tls     bool
	files   runner.TLSFiles
}

func (o *addressOptions) flags() []cli.Flag {
	return inCategory(addressCategory,
		short(nameFlag(&o.address, "address", "ask the server at `ADDRESS`, HOST:PORT or unix:/PATH"), "addr"),
		durationFlag(&o.ConnectTimeout, "connect-timeout", "wait for the connection for `DURATION` (default: 5s)"),
		textFlag(&o.UserAgent, "user-agent", "send `NAME` as the user agent"),
		switchFlag(&o.tls, "tls", "connect by TLS"),
		fileFlag(&o.files.CA, "tls-ca-cert", "trust the authorities in `FILE` (default: the system's)"),
		fileFlag(&o.files.Cert, "tls-client-cert", "send the certificate in `FILE`"),
		fileFlag(&o.files.Key, "tls-client-key", "use the key in `FILE` with it"),
		nameFlag(&o.files.ServerName, "tls-server-name", "expect a certificate for `NAME`"),
		switchFlag(&o.files.NoVerify, "tls-no-verify", "accept any certificate"),
	)
}

// healthOfAddress probes a server that runs already. It rejects a PLUGIN, and ofPlugin,
// the flags of a plugin that is started, except --service.
func (f *program) healthOfAddress(c *cli.Context, at *addressOptions, ofPlugin []cli.Flag, watch bool) error {
	others := slices.DeleteFunc(slices.Clone(ofPlugin), func(flag cli.Flag) bool { return flag.Names()[0] == "service" })
	if name := firstTyped(others); name != "" {
		return usage("%s does not apply to --address, which starts no plugin", name)
	}
	if words := c.Args().Slice(); len(words) > 0 {
		return usage("--address excludes a PLUGIN, and %s is given", schema.QuoteLine(words[:1]))
	}
	ctx := c.Context
	if err := at.readTLS(ctx); err != nil {
		return err
	}
	stop := f.streams.Waiting("asking " + at.address)
	defer stop()
	if watch {
		return runner.WatchAddress(ctx, at.address, at.AddressOptions, func(status string) error { return f.printHealth(ctx, status, nil) })
	}
	return f.health(ctx, func() error {
		defer stop()
		return runner.ProbeAddress(ctx, at.address, at.AddressOptions)
	}, func() hook.Info { return hook.Info{} })
}

// readTLS checks the flags about TLS, and reads their files.
func (o *addressOptions) readTLS(ctx context.Context) (err error) {
	switch {
	case !o.tls && o.files != (runner.TLSFiles{}):
		return usage("the --tls- flags apply only with --tls")
	case !o.tls:
		return nil
	case o.files.NoVerify && (o.files.CA != "" || o.files.ServerName != ""):
		return usage("--tls-no-verify accepts any certificate: it excludes --tls-ca-cert and --tls-server-name")
	}
	o.TLS, err = hook.Interruptible(ctx, o.files.Config) // a file may be a pipe
	if e := (*hook.Error)(nil); err != nil && !errors.As(err, &e) {
		return usage("--tls: %w", err)
	}
	return err
}

// probeCode is the exit code that grpc-health-probe has for an error.
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
