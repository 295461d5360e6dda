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
	"github.com/pyplug/pyplug/runner/schema"
)

func hooksCommand(f *program) command {
	var template string
	var cfg runner.Config
	ofPlugin := append(pluginFlags(&cfg, "10m"), headerFlag(&cfg.GRPC.Metadata))
	templateFlag := nameFlag(&template, "template", "print an example request of `HOOK` as JSON, for --input")
	return command{names: allWords, Command: &cli.Command{
		Name:      "hooks",
		Usage:     "list the hooks of a plugin, or explain one",
		ArgsUsage: "NAME|PLUGIN [HOOK]",
		Flags:     slices.Concat([]cli.Flag{templateFlag}, ofPlugin, f.opts.flags()),
		Action: func(c *cli.Context) error {
			words := c.Args().Slice()
			switch {
			case len(words) == 0:
				return usage("PLUGIN is missing")
			case len(words) > 2 || len(words) == 2 && template != "":
				return usage("unexpected argument: %s", schema.QuoteLine(words[len(words)-1:]))
			case len(words) == 2 && words[1] == "":
				return usage("HOOK is empty")
			}
			if err := openConfig(&cfg, words[0]); err != nil {
				return err
			}
			p, done, err := f.connectOrStart(c, cfg, ofPlugin)
			if err != nil {
				return err
			}
			defer done()
			switch {
			case template != "":
				return f.template(c.Context, p, template)
			case len(words) == 2:
				return f.explain(c.Context, p, words[1], ofPlugin)
			}
			return f.hooks(c.Context, p)
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

// describe returns the hooks of a plugin, or the one with a name in detail.
func (f *program) describe(ctx context.Context, p hook.Plugin, name string) (schema.Schema, error) {
	stop := f.streams.Waiting("waiting for " + f.plugin.path)
	defer stop()
	return p.Hooks(ctx, name)
}

// hooks lists the hooks of a plugin.
func (f *program) hooks(ctx context.Context, p hook.Plugin) error {
	sch, err := f.describe(ctx, p, "")
	switch {
	case err != nil:
		return err
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

// template prints the template of a hook.
func (f *program) template(ctx context.Context, p hook.Plugin, name string) error {
	sch, err := f.describe(ctx, p, name)
	if err != nil {
		return err
	}
	var text bytes.Buffer
	if err := json.Indent(&text, sch.Hooks[0].Template, "", "  "); err != nil {
		return hook.NewError(hook.Internal, fmt.Errorf("the template of %s: %w", name, err))
	}
	return f.write(ctx, func() error { return f.streams.Template(text.Bytes(), name, f.opts.json) })
}

// explain prints all that is known of a hook, with an example call. The call repeats the
// flags ofPlugin that were typed.
func (f *program) explain(ctx context.Context, p hook.Plugin, name string, ofPlugin []cli.Flag) error {
	sch, err := f.describe(ctx, p, name)
	if err != nil {
		return err
	}
	words := []string{"pyplug", "run"}
	if f.plugin.daemon.Name != "" {
		words[1] = "call"
	}
	typed := slices.DeleteFunc(slices.Clone(ofPlugin), func(flag cli.Flag) bool { return !valueOf(flag).typed })
	words = slices.Concat(words, flagWords(typed), []string{f.plugin.path, sch.Hooks[0].Name}, sch.Hooks[0].Example())
	return f.write(ctx, func() error { return f.streams.Hook(sch.Hooks[0], schema.QuoteLine(words), f.opts.json) })
}
