package commands

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"slices"

	"github.com/pyplug/pyplug/commands/cmdline"
	"github.com/pyplug/pyplug/runner/settings"
)

const tcpCategory = "Calls over TCP"

// accessFlags returns the flags of serve for calls over TCP.
func (o *startOptions) accessFlags() cmdline.Flags {
	a := &o.Access
	a.MaxConnections, a.MaxBody = 1000, 16<<20
	return cmdline.InCategory(tcpCategory,
		cmdline.New("listen", "accept calls at `ADDRESS`, such as 127.0.0.1:8080 or :8080, over HTTP", func(text string) error {
			if _, port, err := net.SplitHostPort(text); err != nil || port == "" {
				return fmt.Errorf("is %q, expected HOST:PORT or :PORT", text)
			}
			a.Listen = append(a.Listen, text)
			return nil
		}).Repeat(),
		cmdline.File(&a.TokenFile, "token-file", "accept requests with a token of `FILE`, one on each line"),
		cmdline.Switch(&a.NoToken, "no-token", "accept requests without a token, behind a proxy that authenticates them"),
		cmdline.Texts(&a.Hosts, "allow-host", "accept the host `NAME` in requests without a token"),
		cmdline.New("max-body", "accept bodies of up to `SIZE`, such as 64MB (default: 16MB)", func(text string) error {
			n, ok := settings.ParseSize(text)
			if a.MaxBody = n; !ok || n < 1 {
				return fmt.Errorf("is %q, expected a size such as 64MB", text)
			}
			return nil
		}),
		cmdline.Count(&a.MaxConnections, 1, 1_000_000, "max-connections", "accept `N` connections at once for each address (default: 1000)"),
		settingFlag(&o.Config, settings.ByFlag("drain")),
	)
}

// readAccess checks the flags of accessFlags.
func (o *startOptions) readAccess() error {
	a := &o.Access
	switch {
	case len(a.Listen) == 0 && (a.TokenFile != "" || a.NoToken || len(a.Hosts) > 0):
		return cmdline.Usage("--token-file, --no-token and --allow-host apply only with --listen")
	case a.TokenFile != "" && a.NoToken:
		return cmdline.Usage("--token-file and --no-token cannot be combined")
	}
	return nil
}

func serveCommand(prog *program) command {
	var o startOptions
	cmd := newCommand("serve", "keep a plugin alive in the foreground", "PLUGIN",
		slices.Concat(o.flags(), cmdline.Flags{o.envFileFlag()}, o.accessFlags(), prog.opts.flags()), func(ctx context.Context, words []string) error {
			if err := cmp.Or(o.readAccess(), o.readKept(words)); err != nil {
				return err
			}
			if err := o.readEnvFiles(ctx); err != nil {
				return err
			}
			return prog.untilSignal(prog.serve(ctx, o, nil))
		})
	cmd.keeps = true
	return cmd
}
