package commands

import (
	"crypto/tls"
	"errors"
	"os"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/pyplug/pyplug/runner"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

const addressCategory = "gRPC servers that run already:"

// addressFlags are for asking a server that pyplug does not start. Their names
// are those of grpc-health-probe, as far as it has them.
func addressFlags() []cli.Flag {
	connect := durationFlag("connect-timeout", "how `LONG` the connection may take (default: 5s)")
	connect.(*cli.GenericFlag).Category = addressCategory
	return []cli.Flag{
		&cli.StringFlag{Category: addressCategory, Name: "address", Aliases: []string{"addr"}, Usage: "ask the server at this `ADDRESS`, HOST:PORT or unix:/PATH"},
		connect,
		&cli.StringFlag{Category: addressCategory, Name: "user-agent", Usage: "introduce pyplug by this `NAME`"},
		&cli.BoolFlag{Category: addressCategory, Name: "tls", Usage: "connect by TLS"},
		&cli.StringFlag{Category: addressCategory, Name: "tls-ca-cert", Usage: "`FILE` of the authorities that may have signed the server's certificate (default: the system's)"},
		&cli.StringFlag{Category: addressCategory, Name: "tls-client-cert", Usage: "`FILE` of pyplug's own certificate"},
		&cli.StringFlag{Category: addressCategory, Name: "tls-client-key", Usage: "`FILE` of its key"},
		&cli.StringFlag{Category: addressCategory, Name: "tls-server-name", Usage: "the `NAME` that the server's certificate has to be made out to"},
		&cli.BoolFlag{Category: addressCategory, Name: "tls-no-verify", Usage: "take any certificate of the server"},
	}
}

// addressOnly refuses what makes sense for a server that runs already alone.
func addressOnly(c *cli.Context) error {
	given := c.LocalFlagNames()
	for _, flag := range addressFlags() {
		if name := flag.Names()[0]; slices.Contains(given, name) {
			return usage("--%s is for a server that runs already, and --address is not given", name)
		}
	}
	return nil
}

// pluginOnly refuses what makes sense for a plugin that is started alone, but for
// what may come from the environment, which is for all commands.
func pluginOnly(c *cli.Context) error {
	given := c.LocalFlagNames()
	for _, flag := range pluginFlags("") {
		if name := flag.Names()[0]; name != serviceFlag && slices.Contains(given, name) && !fromEnvironment(flag) {
			return usage("--%s is for a plugin that is started, and --address starts none", name)
		}
	}
	if words := c.Args().Slice(); len(words) > 0 {
		return usage("%s is a PLUGIN and --address is given: want one of them", schema.QuoteLine(words[:1]))
	}
	return nil
}

// fromEnvironment tells whether the environment sets a flag. urfave/cli counts
// that as given.
func fromEnvironment(flag cli.Flag) bool {
	doc, ok := flag.(cli.DocGenerationFlag)
	return ok && slices.ContainsFunc(doc.GetEnvVars(), func(name string) bool { return os.Getenv(name) != "" })
}

// healthOfAddress asks a server that runs already.
func (f *program) healthOfAddress(c *cli.Context) error {
	if err := f.begin(c); err != nil {
		return err
	}
	if err := pluginOnly(c); err != nil {
		return err
	}
	o, err := readAddress(c)
	if err != nil {
		return err
	}
	f.tls = o.TLS != nil
	address := c.String("address")
	stop := f.streams.Waiting("asking " + address)
	defer stop()
	ctx := c.Context
	if f.endless = c.Bool("watch"); f.endless {
		return runner.WatchAddress(ctx, address, o, func(status string) error { return f.tellStatus(ctx, status) })
	}
	began := time.Now()
	if err := runner.ProbeAddress(ctx, address, o); err != nil {
		return err
	}
	stop()
	took := time.Since(began)
	return f.write(ctx, func() error { return f.streams.Healthy(took, hook.Info{}, f.opts.json) })
}

// readAddress reads what addressFlags say.
func readAddress(c *cli.Context) (runner.AddressOptions, error) {
	o := runner.AddressOptions{
		Service:        c.String(serviceFlag),
		Timeout:        durationOf(c, "timeout"),
		ConnectTimeout: durationOf(c, "connect-timeout"),
		UserAgent:      c.String("user-agent"),
	}
	err := notEmpty(c, "tls-ca-cert", "tls-client-cert", "tls-client-key", "tls-server-name")
	if err != nil {
		return o, err
	}
	if o.Metadata, err = readHeaders(c.StringSlice("header")); err != nil {
		return o, err
	}
	files := runner.TLSFiles{
		CA: c.String("tls-ca-cert"), Cert: c.String("tls-client-cert"), Key: c.String("tls-client-key"),
		ServerName: c.String("tls-server-name"), NoVerify: c.Bool("tls-no-verify"),
	}
	if !c.Bool("tls") {
		if files != (runner.TLSFiles{}) {
			return o, usage("the --tls- flags say how TLS is done, and --tls is not given")
		}
		return o, nil
	}
	if files.NoVerify && (files.CA != "" || files.ServerName != "") {
		return o, usage("--tls-no-verify takes any certificate: it excludes --tls-ca-cert and --tls-server-name")
	}
	o.TLS, err = hook.Interruptible(c.Context, func() (*tls.Config, error) { // a file may be a pipe
		cfg, err := files.Config()
		if err != nil {
			return nil, usage("--tls: %w", err)
		}
		return cfg, nil
	})
	return o, err
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

// notServing tells whether a server answered with another status than SERVING. Of
// a service that it does not know it tells none.
func notServing(err error) bool {
	health := (*runner.HealthError)(nil)
	return errors.As(err, &health) && health.Status != "SERVICE_UNKNOWN"
}
