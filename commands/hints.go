package commands

import (
	"errors"
	"slices"

	"github.com/pyplug/pyplug/runner/check"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

// complete is an error with the plugin's name and with the hints that only the command
// line knows. An error that names its plugin comes complete from a daemon.
func (f *program) complete(err error) *hook.Error {
	e := f.plugin.withHints(err)
	if f.plugin != nil && e.Plugin == "" && e.Kind != hook.Usage && !isNotRunning(e) {
		e.Plugin = f.plugin.describe()
	}
	return e
}

// withHints is an error with the hints that only the command line knows. p may be nil.
func (p *plugin) withHints(err error) *hook.Error {
	e := *asError(err)
	if e.Plugin == "" && p != nil {
		e.Hints = slices.Concat(e.Hints, p.hints(&e))
	}
	return &e
}

// hints are about limits of memory, the plugin as it was typed, and its Python.
func (p *plugin) hints(e *hook.Error) (hints []string) {
	if e.Exit != nil && e.Exit.Limit != "" {
		hints = append(hints, "raise the limit with --max-memory, or with limits.memory in the manifest")
	}
	if e.Exit != nil && e.Exit.OutOfMemory {
		hints = append(hints, "the system ran out of memory: lower --workers or --concurrency, or add memory")
	}
	if args := (*schema.ArgumentError)(nil); errors.As(e, &args) && args.Place == "" && args.Err == nil && len(args.Hints()) == 0 {
		hints = append(hints, "`pyplug hooks "+schema.QuoteLine(typedWords([]string{p.path, e.Hook}))+"` shows its parameters")
	}
	if p.opened == nil {
		return hints
	}
	if none := (*schema.NoHookError)(nil); errors.As(e, &none) && len(none.Known) == 0 {
		hints = append(hints, p.opened.ProgramHint()...)
	}
	python := p.opened.Interpreter().Path
	if missing := (*schema.MissingModuleError)(nil); errors.As(e, &missing) && python != "" {
		hints = append(hints, check.MissingHints(p.opened, missing.Module, e.Kind == hook.Start)...)
	}
	return hints
}
