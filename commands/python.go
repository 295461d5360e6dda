package commands

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/pyplug/pyplug/commands/ui"
	"github.com/pyplug/pyplug/interp"
	"github.com/pyplug/pyplug/runner"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

// pythonVerbs are the first words of the command python.
var pythonVerbs = []string{"why", "find", "list"}

func pythonCommand(prog *program) command {
	var cfg runner.Config
	return newCommand("python", "show which Python runs a plugin, and why", "why|find [PLUGIN]\nlist",
		slices.Concat(pythonFlags(&cfg), prog.opts.flags()), func(ctx context.Context, words []string) error {
			if len(words) == 0 || !slices.Contains(pythonVerbs, words[0]) {
				meant := append(schema.Command{"python", "why"}, words...)
				if len(words) > 0 && schema.Suggest(words[0], pythonVerbs) != "" {
					meant = append(schema.Command{"python", schema.Suggest(words[0], pythonVerbs)}, words[1:]...)
				}
				return hinted(usage("python takes one of why, find and list first"), schema.Hintf("did you mean %s?", meant))
			}
			verb, words := words[0], words[1:]
			most := 1
			if verb == "list" {
				most = 0
			}
			if err := atMost(words, most); err != nil {
				return err
			}
			if err := openConfig(&cfg, append(words, "")[0]); err != nil {
				return err
			}
			if len(words) == 0 && verb != "list" {
				if cfg.Plugin = "."; !runner.IsPlugin(ctx, cfg) {
					cfg.Plugin = ""
				}
			}
			return map[string]func(context.Context, runner.Config) error{"why": prog.pythonWhy, "find": prog.pythonFind, "list": prog.pythonList}[verb](ctx, cfg)
		})
}

func (prog *program) pythonWhy(ctx context.Context, cfg runner.Config) error {
	d, err := runner.Explain(ctx, cfg)
	if err != nil {
		return err
	}
	why := ui.Why{Plugin: schema.Path(strings.Join(typedWords([]string{cfg.Plugin}), " ")), Requires: []ui.Requirement{}, Candidates: []ui.Candidate{}, Environment: []ui.Variable{}}
	for _, r := range d.Requires {
		why.Requires = append(why.Requires, ui.Requirement(r))
	}
	for _, v := range d.Variables {
		why.Environment = append(why.Environment, ui.Variable{Name: v.Name, Value: schema.Path(v.Value), Effect: v.Effect})
	}
	for _, a := range d.Before {
		why.Candidates = append(why.Candidates, candidate(a))
	}
	switch {
	case d.Err == nil:
		python := shownPython(d.Chosen, cfg.Environ)
		why.Python = &python
		why.Candidates = append(why.Candidates, ui.Candidate{Status: "chosen", Source: python.Source, Path: python.Path})
	case d.Err.Source != "":
		why.Candidates = append(why.Candidates, candidate(d.Err.Attempt))
	}
	for _, a := range d.After {
		why.Candidates = append(why.Candidates, candidate(a))
	}
	if err := prog.write(ctx, func() error { return prog.streams.Why(why, prog.opts.json) }); err != nil || d.Err == nil {
		return err
	}
	e := runner.PythonError(d.Err)
	e.Tried = nil // the tree has it
	return e
}

func candidate(a interp.Attempt) ui.Candidate {
	status := cmp.Or(map[interp.Code]string{interp.LowerPriority: "later", interp.Shim: "followed"}[a.Code], "rejected")
	return ui.Candidate{Status: status, Source: string(a.Source), Path: schema.Path(a.Path), Code: string(a.Code), Reason: a.Reason, Fix: hook.Word(a.Fix)}
}

func (prog *program) pythonFind(ctx context.Context, cfg runner.Config) error {
	stop := prog.streams.Waiting("asking a Python for its version")
	found, err := runner.FindPython(ctx, cfg)
	stop()
	if err != nil {
		return err
	}
	python := ui.Python{Path: schema.Path(found.Path)}
	if prog.opts.json {
		python = shownPython(found, cfg.Environ)
	}
	return prog.write(ctx, func() error { return prog.streams.Python(python, prog.opts.json) })
}

func (prog *program) pythonList(ctx context.Context, cfg runner.Config) error {
	found, err := runner.Pythons(ctx, cfg)
	if err != nil {
		return err
	}
	if len(found) == 0 {
		prog.streams.Note("no Python was found")
	}
	var all []ui.Python
	for _, python := range found {
		all = append(all, shownPython(python, cfg.Environ))
	}
	return prog.write(ctx, func() error { return prog.streams.Pythons(all, prog.opts.json) })
}

// shownPython converts a Python, with what files say about it, for the output.
func shownPython(i interp.Interpreter, environ []string) ui.Python {
	facts := ui.PythonFacts(interp.FactsOf(i, environ))
	facts.Packages = append([]string{}, facts.Packages...)
	p := ui.Python{Path: schema.Path(i.Path), Source: string(i.Source), Implementation: i.Implementation, Variant: i.Variant, PythonFacts: facts}
	if i.Version.Known() {
		p.Version = i.Version.String()
	}
	return p
}
