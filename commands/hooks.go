package commands

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/pyplug/pyplug/runner"
	"github.com/pyplug/pyplug/runner/hook"
)

const hooksText = `List the hooks of PLUGIN, with their signatures and the first line of their
   documentation. hooks starts the plugin, unless it is the NAME of a
   background plugin.

   pyplug hooks greeter.py
   pyplug hooks --json greeter.py
   pyplug hooks --template KV/Put kv/plugin.py`

func hooksCommand(f *program) command {
	var template string
	var cfg runner.Config
	ofPlugin := append(pluginFlags(&cfg, "10m"), headerFlag(&cfg.GRPC.Metadata))
	templateFlag := nameFlag(&template, "template", "print an example request of `HOOK` as JSON, for --input")
	return command{names: allWords, Command: &cli.Command{
		Name:        "hooks",
		Usage:       "list the hooks of a plugin",
		ArgsUsage:   "NAME|PLUGIN",
		Description: hooksText,
		Flags:       slices.Concat([]cli.Flag{templateFlag}, ofPlugin, f.opts.flags()),
		Action: func(c *cli.Context) error {
			if err := onePlugin(c, &cfg); err != nil {
				return err
			}
			p, done, err := f.connectOrStart(c, cfg, ofPlugin)
			if err != nil {
				return err
			}
			defer done()
			return f.hooks(c.Context, p, template)
		},
	}}
}

// onePlugin completes cfg by the command line of a command that takes one PLUGIN.
func onePlugin(c *cli.Context, cfg *runner.Config) error {
	word, err := oneWord(c, "PLUGIN")
	if err != nil {
		return err
	}
	return openConfig(cfg, word)
}

// hooks lists the hooks of a plugin, or prints the template of one.
func (f *program) hooks(ctx context.Context, p hook.Plugin, template string) error {
	stop := f.streams.Waiting("waiting for " + f.plugin.path)
	sch, err := p.Hooks(ctx, template)
	stop()
	switch {
	case err != nil:
		return err
	case template != "":
		var text bytes.Buffer
		if err := json.Indent(&text, bytes.TrimSpace(sch.Hooks[0].Template), "", "  "); err != nil {
			return hook.NewError(hook.Internal, fmt.Errorf("the template of %s: %w", template, err))
		}
		text.WriteByte('\n')
		return f.write(ctx, func() error { return f.streams.Template(text.Bytes(), template, f.opts.json) })
	case len(sch.Hooks) == 0 && f.plugin.transport() == "grpc":
		f.streams.Warn(f.plugin.path + " has no hooks: it serves no reflection, and no descriptors of its services were found")
	case len(sch.Hooks) == 0:
		why := []string{f.plugin.path + " has no hooks: no public function is defined in it"}
		if f.plugin.opened != nil {
			why = append(why, f.plugin.opened.ProgramHint()...)
		}
		f.streams.Warn(strings.Join(why, "; "))
	}
	return f.write(ctx, func() error { return f.streams.Hooks(sch, f.opts.json) })
}
