package commands

import (
	"errors"
	"slices"

	"github.com/pyplug/pyplug/runner/check"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

// pluginError is an error that concerns a plugin.
type pluginError struct {
	error
	p *plugin
}

func (e *pluginError) Unwrap() error { return e.error }

// failed makes an error one that concerns the plugin. nil stays nil.
func (p *plugin) failed(err error) error {
	if err == nil {
		return nil
	}
	return &pluginError{err, p}
}

// pluginOf is the plugin that an error concerns, or nil.
func pluginOf(err error) *plugin {
	if of := (*pluginError)(nil); errors.As(err, &of) {
		return of.p
	}
	return nil
}

// complete is an error with the plugin's name and with the hints that only the command
// line knows. p may be nil.
func (p *plugin) complete(err error) *hook.Error {
	e := p.withHints(err)
	if p != nil && e.Plugin == "" && e.Kind != hook.Usage && !isNotRunning(e) {
		e.Plugin = p.describe()
	}
	return e
}

// withHints is an error with the hints that only the command line knows. p may be nil.
func (p *plugin) withHints(err error) *hook.Error {
	e := *asError(err)
	if p != nil && !p.elsewhere {
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
