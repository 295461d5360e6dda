package commands

import (
	"slices"

	"github.com/urfave/cli/v2"
)

const keepText = `   With --keep the plugin stays alive in the foreground, under a name, as start keeps it in the
   background: call, status and the like find it. Each time that it is ready a line of JSON says how
   to attach to it, a service manager is told (NOTIFY_SOCKET), and SIGTERM ends it, with 0 if
   the plugin stops well.

   pyplug run --keep --watch greeter.py
   pyplug run --keep provider.py >attach.json &`

// keepModeFlags are those of run --keep alone.
func keepModeFlags() []cli.Flag {
	keep := &cli.BoolFlag{Category: backgroundCategory, Name: "keep", Usage: "stay alive in the foreground, and take calls under a name"}
	return append([]cli.Flag{keep}, nameFlags()...)
}

// runKeep keeps a plugin alive in the foreground.
func (f *program) runKeep(c *cli.Context) error {
	if c.Bool("lines") {
		return usage("--lines and --keep exclude each other")
	}
	if err := f.onlyWith("run --lines", linesFlags()); err != nil {
		return err
	}
	calls := slices.DeleteFunc(callFlags(), func(flag cli.Flag) bool {
		return slices.ContainsFunc(limitFlags(), func(l cli.Flag) bool { return l.Names()[0] == flag.Names()[0] })
	})
	if err := f.onlyWith("a call, and --keep makes none", calls); err != nil {
		return err
	}
	o, err := f.readKept(c)
	if err != nil {
		return err
	}
	f.endless = true
	return f.serve(c.Context, o, nil)
}
