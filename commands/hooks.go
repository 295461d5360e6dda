package commands

import (
	"context"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/pyplug/pyplug/runner"
	"github.com/pyplug/pyplug/runner/schema"
)

const hooksText = `List the hooks of PLUGIN with their signatures and the first line of their documentation. It is
   started for that, unless it is the NAME of one that runs in the background.

   pyplug hooks greeter.py
   pyplug hooks --json greeter.py
   pyplug hooks --template KV/Put kv/plugin.py`

func hooksCommand(f *program) command {
	var template string
	var o pluginOptions
	var headers headers
	ofPlugin := append(o.flags("10m"), headers.flag())
	templateFlag := nameFlag(&template, "template", "print an example request of `HOOK` as JSON, for --input")
	return command{names: allWords, Command: &cli.Command{
		Name:        "hooks",
		Usage:       "list a plugin's hooks",
		ArgsUsage:   "NAME|PLUGIN",
		Description: hooksText,
		Flags:       slices.Concat([]cli.Flag{templateFlag}, ofPlugin, f.opts.flags()),
		Action: func(c *cli.Context) error {
			cfg, err := onePlugin(c, &o)
			if err != nil {
				return err
			}
			cfg.GRPC.Metadata = headers.pairs
			running, err := f.byName(c, cfg.Plugin, ofPlugin)
			if err != nil {
				return err
			}
			if running != nil {
				return f.hooksOf(c.Context, running, template, template != "")
			}
			if template != "" {
				return f.template(c.Context, cfg, template)
			}
			return f.hooks(c.Context, cfg)
		},
	}}
}

// onePlugin reads the command line of a command that takes one PLUGIN.
func onePlugin(c *cli.Context, o *pluginOptions) (runner.Config, error) {
	words := c.Args().Slice()
	switch len(words) {
	case 0:
		return runner.Config{}, usage("PLUGIN is missing")
	case 1:
		return o.config(words[0])
	default:
		return runner.Config{}, usage("unexpected argument: %s", schema.QuoteLine(words[1:2]))
	}
}

// hooks lists the hooks of a plugin.
func (f *program) hooks(ctx context.Context, cfg runner.Config) error {
	cfg.Once = true
	p, err := f.open(ctx, cfg, nil)
	if err != nil {
		return err
	}
	defer p.close()
	sch, err := p.pool.Hooks(ctx, "")
	if err != nil {
		return err
	}
	if len(sch.Hooks) == 0 {
		f.streams.Warn(cfg.Plugin + " has no hooks: " + noHooks(p.opened))
	}
	return f.write(ctx, func() error { return f.streams.Hooks(sch, f.opts.json) })
}

// noHooks says why there are none.
func noHooks(s *runner.Opened) string {
	if s.Settings().Transport == "grpc" {
		return "it serves no reflection, and no descriptors of its services were found"
	}
	return "no public function is defined in it"
}

// template prints an empty request of a hook.
func (f *program) template(ctx context.Context, cfg runner.Config, name string) error {
	cfg.Once = true
	p, err := f.open(ctx, cfg, nil)
	if err != nil {
		return err
	}
	defer p.close()
	sch, err := p.pool.Hooks(ctx, name)
	if err != nil {
		return err
	}
	return f.write(ctx, func() error { return f.streams.Template(sch.Hooks[0].Template, name, f.opts.json) })
}
