package commands

import (
	"context"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/pyplug/pyplug/runner"
)

const healthText = `Start PLUGIN, ask once whether it is healthy, stop. Exit status 0 says yes, 7 no, 124 that it
   did not answer in time.

   A functions file is asked through its function health(), if it has one that needs no argument:
   None or True is healthy; False, a text, or a dict whose status is not ok is the reason why not.

   pyplug health greeter.py && echo fine`

// healthImport is how long an import may take: a probe is waited for.
const healthImport = 60 * time.Second

func healthCommand(f *program) command {
	flags := []cli.Flag{
		durationFlag("timeout", "how `LONG` the answer may take, 0 for no limit (default: 2s)"),
	}
	return command{names: allWords, Command: &cli.Command{
		Name:        "health",
		Usage:       "ask a plugin once whether it is healthy",
		ArgsUsage:   "PLUGIN",
		Description: healthText,
		Flags:       append(append(flags, pluginFlags("60s")...), outputFlags()...),
		Action: func(c *cli.Context) error {
			cfg, err := f.onePlugin(c)
			if err != nil {
				return err
			}
			cfg.Timeouts.Probe = durationOf(c, "timeout")
			cfg.DefaultStart = healthImport
			return f.health(c.Context, cfg)
		},
	}}
}

// health probes a plugin. An error says why it is not healthy.
func (f *program) health(ctx context.Context, cfg runner.Config) error {
	s, err := f.open(ctx, cfg)
	if err != nil {
		return err
	}
	defer f.closeSession(s)
	probeCtx, cancel := context.WithTimeout(ctx, s.Settings().Timeouts.Probe)
	defer cancel()
	began := time.Now()
	if err := s.Probe(probeCtx); err != nil {
		return err
	}
	took := time.Since(began)
	return f.write(ctx, func() error { return f.streams.Healthy(took, s.Info(), f.opts.json) })
}
