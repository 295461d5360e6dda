package commands

import (
	"context"
	"slices"
	"strings"

	"github.com/pyplug/pyplug/commands/cmdline"
	"github.com/pyplug/pyplug/interp"
	"github.com/pyplug/pyplug/runner/manifest"
	"github.com/pyplug/pyplug/runner/plan"
	"github.com/pyplug/pyplug/runner/schema"
	"github.com/pyplug/pyplug/runner/service"
)

// pythonVerbs lists the first words of the command python.
var pythonVerbs = []string{"why", "find", "list"}

func pythonCommand(prog *program) command {
	var cfg plan.Config
	return newCommand("python", "show which Python runs a plugin, and why", "[why|find] [PLUGIN]\nlist",
		slices.Concat(pythonFlags(&cfg), prog.opts.flags()), func(ctx context.Context, words []string) error {
			if len(words) == 1 && isPlugin(words[0]) {
				words = []string{"why", words[0]}
			}
			if len(words) == 0 || !slices.Contains(pythonVerbs, words[0]) {
				meant := append(schema.Command{"python", "why"}, words...)
				if len(words) > 0 && schema.Suggest(words[0], pythonVerbs) != "" {
					meant = append(schema.Command{"python", schema.Suggest(words[0], pythonVerbs)}, words[1:]...)
				}
				return cmdline.Hinted(cmdline.Usage("python needs an action first: why, find or list"), schema.Hintf("did you mean %s?", meant))
			}
			verb, words := words[0], words[1:]
			form := "[PLUGIN]"
			if verb == "list" {
				form = ""
			}
			if err := cmdline.WantWords(words, form); err != nil {
				return err
			}
			if err := openConfig(&cfg, append(words, "")[0]); err != nil {
				return err
			}
			if len(words) == 0 && verb != "list" {
				cfg.Plugin = "."
				cfg = plan.OrProject(ctx, cfg)
			}
			return map[string]func(context.Context, plan.Config) error{"why": prog.pythonWhy, "find": prog.pythonFind, "list": prog.pythonList}[verb](ctx, cfg)
		})
}

// isPlugin reports whether a word is the path of a plugin or a module rather than a verb.
func isPlugin(word string) bool {
	_, isModule := manifest.ModuleOf(word)
	return isModule || !service.Plain(word)
}

func (prog *program) pythonWhy(ctx context.Context, cfg plan.Config) error {
	d, err := plan.Explain(ctx, cfg)
	if err != nil {
		return err
	}
	var chosen *interp.Facts
	if d.Broken == nil {
		chosen = new(interp.FactsOf(d.Chosen, cfg.Environ))
	}
	plugin := strings.Join(manifest.TypedWords([]string{cfg.Plugin}), " ")
	if err := prog.write(ctx, func() error { return prog.streams.Why(plugin, d, chosen, prog.opts.json) }); err != nil {
		return err
	}
	return d.Err()
}

func (prog *program) pythonFind(ctx context.Context, cfg plan.Config) error {
	stop := prog.streams.Waiting("asking a Python for its version")
	found, err := plan.FindPython(ctx, cfg)
	stop()
	if err != nil {
		return err
	}
	facts := interp.Facts{Path: schema.Path(found.Path)}
	if prog.opts.json {
		facts = interp.FactsOf(found, cfg.Environ)
	}
	return prog.write(ctx, func() error { return prog.streams.Python(facts, prog.opts.json) })
}

func (prog *program) pythonList(ctx context.Context, cfg plan.Config) error {
	found, err := plan.Pythons(ctx, cfg)
	if err != nil {
		return err
	}
	if len(found) == 0 {
		prog.streams.Note("no Python was found")
	}
	all := make([]interp.Facts, len(found))
	for i, python := range found {
		all[i] = interp.FactsOf(python, cfg.Environ)
	}
	return prog.write(ctx, func() error { return prog.streams.Pythons(all, prog.opts.json) })
}
