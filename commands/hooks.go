package commands

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/pyplug/pyplug/commands/cmdline"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/manifest"
	"github.com/pyplug/pyplug/runner/plan"
	"github.com/pyplug/pyplug/runner/schema"
	"github.com/pyplug/pyplug/runner/settings"
)

func hooksCommand(prog *program) command {
	var input bool
	var cfg plan.Config
	ofPlugin := append(pluginFlags(&cfg), settingFlag(&cfg, settings.ByFlag("header")))
	schemaFlag := cmdline.Switch(&input, "schema", "print the JSON Schema of the arguments, of HOOK or of every hook by its name")
	cmd := newCommand("hooks", "list the hooks of a plugin, or explain one", "NAME|PLUGIN [HOOK]",
		slices.Concat(cmdline.Flags{schemaFlag}, ofPlugin, prog.opts.flags()), func(ctx context.Context, words []string) error {
			err := cmdline.WantWords(words, "PLUGIN [HOOK]")
			if err != nil {
				return err
			}
			p, err := prog.reach(ctx, words[0], cfg, ofPlugin)
			if err != nil {
				return err
			}
			defer p.close()
			q := schema.Query{Hook: append(words, "")[1], Input: input}
			return failed(p, prog.showHooks(ctx, p, q, ofPlugin))
		})
	cmd.config = &cfg
	return cmd
}

// showHooks lists the hooks of a plugin, explains one hook, or prints JSON Schemas. The example
// call contains the flags that were typed.
func (prog *program) showHooks(ctx context.Context, p plugin, q schema.Query, flags cmdline.Flags) error {
	stop := prog.streams.Waiting("waiting for " + p.typed())
	sch, err := p.Hooks(ctx, q)
	stop()
	switch {
	case err != nil:
		return err
	case q.Input && !prog.opts.json:
		return prog.inputs(ctx, sch, q.Hook)
	case q.Hook == "":
		return prog.listHooks(ctx, p, sch)
	}
	words := []string{"run", p.typed()}
	if _, isRunning := p.(*background); isRunning {
		words[0] = "call"
	}
	typed := slices.DeleteFunc(slices.Clone(flags), func(f cli.Flag) bool { return !cmdline.FlagOf(f).Typed })
	line := slices.Concat([]string{"pyplug", words[0]}, cmdline.Words(typed), manifest.TypedWords(words[1:]), []string{sch.Hooks[0].Name}, sch.Hooks[0].Example())
	return prog.write(ctx, func() error { return prog.streams.Hook(sch.Hooks[0], schema.QuoteLine(line), prog.opts.json) })
}

// listHooks lists the hooks of a plugin.
func (prog *program) listHooks(ctx context.Context, p plugin, sch schema.Schema) error {
	if len(sch.Hooks) == 0 {
		why := []string{p.typed() + " has no hooks: " + p.transport().NoHooks}
		if own, ok := p.(*local); ok {
			why = append(why, hook.Words(own.ProgramHint())...)
		}
		prog.streams.Warn(strings.Join(why, "; "))
	}
	if !prog.opts.json {
		prog.streams.Notes(sch.Notes)
	}
	return prog.write(ctx, func() error { return prog.streams.Hooks(sch, prog.opts.json) })
}

// inputs prints the JSON Schema of a hook's arguments, or an object with the schemas of all hooks.
func (prog *program) inputs(ctx context.Context, sch schema.Schema, name string) error {
	inputs := map[string]json.RawMessage{}
	for _, h := range sch.Hooks {
		inputs[h.Name] = h.Input
	}
	return prog.write(ctx, func() error {
		if name != "" {
			return prog.streams.Indented(sch.Hooks[0].Input)
		}
		return prog.streams.Indented(inputs)
	})
}
