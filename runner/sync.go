package runner

import (
	"context"
	"errors"
	"fmt"

	"github.com/pyplug/pyplug/interp"
	"github.com/pyplug/pyplug/interp/env"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/manifest"
	"github.com/pyplug/pyplug/runner/schema"
)

// SyncOptions say how Sync makes an environment.
type SyncOptions = env.Options

// SyncPlan says which environment a plugin needs.
type SyncPlan struct {
	env.Plan
	// Note says that starts take another Python; empty if they do not.
	Note string
}

// PlanSync returns which environment c.Plugin needs. If c.Plugin is empty, that is .venv of
// the project in c.Cwd. Like a start, PlanSync starts only a Python whose version no file
// states. The error is a [*hook.Error].
func PlanSync(ctx context.Context, c Config, o SyncOptions) (SyncPlan, error) {
	return hook.Interruptible(ctx, func() (SyncPlan, error) { return planSync(ctx, c, o) })
}

func planSync(ctx context.Context, c Config, o SyncOptions) (plan SyncPlan, err error) {
	r, p, err := pythonRequest(c)
	if err != nil {
		return plan, err
	}
	o.InPlace = o.InPlace || c.Plugin == "" // where every plugin of the project finds it
	if p.Kind == manifest.Executable {
		return plan, hook.NewError(hook.Usage, fmt.Errorf("%s is an executable, which chooses its Python itself", c.Plugin))
	}
	if p.Entry == "" && !o.InPlace { // no start would find an environment in the cache
		e := hook.NewError(hook.Usage, fmt.Errorf("module %s is not in this directory", p.Module))
		e.Hints = schema.Hints("%s makes .venv for the project here", schema.Setting("in-place"))
		return plan, e
	}
	r.Base = true
	base, err := findBy(ctx, r)
	if err != nil {
		return plan, err
	}
	cache, err := env.Cache()
	if err != nil && !o.InPlace {
		return plan, syncError(ctx, &env.Error{Err: err, Advice: env.CacheHint})
	}
	facts := interp.FactsOf(base, c.Environ)
	plan.Plan, err = env.NewPlan(env.Request{
		Entry: p.Entry, Dirs: p.Project.Dirs,
		Python: base.Path, Real: string(facts.Real), Version: base.Implementation + " " + base.Version.String() + base.Variant, Packages: facts.Packages,
		Options: o, Cache: cache, Environ: c.Environ,
	})
	named := base
	if r.Flag != "" { // of this sync alone
		r.Flag = ""
		named, _ = interp.Find(ctx, r) // the zero one if a start will report an error, or finds what is made now
	}
	if named.Source.Named() && !named.AnyOf && !interp.SamePath(named.Env, plan.Dir) {
		plan.Note = "starts use the named Python instead: " + named.String()
	}
	return plan, syncError(ctx, err)
}

// Clean removes environments that no plugin asks for, see [env.Clean].
func Clean(inUse func(dir string) bool, dryRun bool) (removed []string, bytes int64, err error) {
	cache, err := env.Cache()
	if err != nil {
		return nil, 0, hook.NewError(hook.Interpreter, err)
	}
	if removed, bytes, err = env.Clean(cache, inUse, dryRun); err != nil {
		err = hook.NewError(hook.Interpreter, fmt.Errorf("cannot remove all: %w", err))
	}
	return removed, bytes, err
}

// Cache returns the directory in the user's cache where environments are made.
func Cache() (string, error) { return env.Cache() }

// Sync makes the environment of a plan, see [env.Plan.Make]. The error is a [*hook.Error].
func Sync(ctx context.Context, p env.Plan) (made bool, err error) {
	made, err = p.Make(ctx)
	return made, syncError(ctx, err)
}

// SyncSource returns the file that lists what the plugin needs, or the zero Source. ok is false if
// a start would not use the environment, even without --python and PYPLUG_PYTHON.
func (o *Opened) SyncSource() (source env.Source, ok bool) {
	python := o.Interpreter()
	named := python.Source == interp.SourceManifest && !python.AnyOf
	fixed := python.Env != "" && python.Env != o.synced
	if python.Path == "" || named {
		return source, false
	}
	return env.SourceOf(o.plugin.Entry, o.plugin.Project.Dirs), !fixed
}

// SyncLine returns the command line that makes the environment for a start like this one. The
// environment is in the same place as the last one.
func (o *Opened) SyncLine() string { return o.sync }

// PythonNotes returns notes about the Pythons that a start skips. See
// [interp.Interpreter.Skipped].
func (o *Opened) PythonNotes() (notes []string) {
	for _, skipped := range o.python.Skipped {
		note := skipped.String()
		if skipped.Source == interp.SourceSync {
			note = o.outdatedBy(skipped.Reason)
		}
		if skipped.Code == interp.ToolRuns || skipped.Source == interp.SourcePin {
			note += "; " + hook.Word(skipped.Fix)
		}
		if skipped.Path != o.python.Env {
			note += "; using " + o.python.Path
		}
		notes = append(notes, note)
	}
	return notes
}

func (o *Opened) outdatedBy(reason string) string {
	return "the environment that pyplug made " + reason + "; `" + o.sync + "` makes a new one"
}

// EnvChanged returns why the environment of sync that the plugin was opened with is no longer
// the current one, or "".
func (o *Opened) EnvChanged() string {
	cache, err := env.Cache()
	if err != nil || o.python.Source != interp.SourceSync {
		return ""
	}
	switch now := env.Lookup(cache, o.plugin.Entry, o.plugin.Project.Dirs); {
	case now.Stale != "":
		return o.outdatedBy(now.Stale)
	case now.Dir != "" && now.Dir != o.python.Env:
		return "pyplug made another environment"
	}
	return ""
}

// syncError converts an error of env to a [*hook.Error].
func syncError(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return hook.NewError(hook.Canceled, context.Cause(ctx))
	}
	e := hook.NewError(hook.Interpreter, err)
	if failed := (*env.Error)(nil); errors.As(err, &failed) {
		if failed.Refused {
			e.Kind = hook.Usage
		}
		if failed.Exit != nil {
			exit := hook.Exit(*failed.Exit)
			e.Exit = &exit
		}
	}
	return e
}
