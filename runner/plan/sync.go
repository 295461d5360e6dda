package plan

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/pyplug/pyplug/interp"
	"github.com/pyplug/pyplug/interp/bounded"
	"github.com/pyplug/pyplug/interp/env"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/manifest"
)

// SyncOptions are the user's choices for a sync.
type SyncOptions = env.Options

// PlanSync returns the plan of the environment for c.Plugin, or for the project in c.Cwd if
// c.Plugin is empty. Like a start, PlanSync runs a Python only if no file has its version. The
// error is a [*hook.Error].
func PlanSync(ctx context.Context, c Config, o SyncOptions) (env.Plan, error) {
	return hook.Interruptible(ctx, func() (plan env.Plan, err error) {
		r, p, err := pythonRequest(c)
		switch {
		case err != nil:
			return plan, err
		case p.Kind == manifest.Executable:
			return plan, hook.NewError(hook.Usage, fmt.Errorf("%s is an executable, which chooses its Python itself", c.Plugin))
		}
		request := env.Request{
			Entry: p.Entry, Dirs: p.Project.Dirs, Options: o, Complete: syncLine(p, c.Python, "--into-existing"), Environ: c.Environ,
		}
		var base interp.Interpreter
		if r.Making = env.SourceOf(p.Entry, p.Project.Dirs).Venv(); r.Making != "" { // without a source, NewPlan returns the error
			if base, err = interp.Find(ctx, r); err != nil {
				return plan, err
			}
			request.Python, request.Packages = base.Path, interp.FactsOf(base, c.Environ).Packages
		}
		if plan, err = env.NewPlan(request); err == nil && plan.Exists {
			err = plan.Fits(ctx, r, base)
		}
		return plan, err
	})
}

// SyncNote returns a note if a start of c.Plugin uses a Python other than that of the environment
// in dir, or "". It ignores the flag --python, which applied to the sync only.
func SyncNote(ctx context.Context, c Config, dir string) string {
	c.Python = ""
	if found, err := FindPython(ctx, c); err == nil && !interp.SamePath(found.Env, dir) { // a start reports err
		return "starts use another Python instead: " + found.String()
	}
	return ""
}

// Cache returns pyplug's directory in the user's cache, which may not exist.
func Cache() (string, error) { return bounded.UserCache() }

// syncSource returns the file that lists the plugin's requirements, or the zero Source. ok is false
// if a start would not use the environment of a sync, even without --python and PYPLUG_PYTHON.
func (r *Plan) syncSource() (source env.Source, ok bool) {
	named := r.Python.Source == interp.SourceManifest && !r.Python.AnyOf
	if named {
		return source, false
	}
	source = env.SourceOf(r.Plugin.Entry, r.Plugin.Project.Dirs)
	return source, r.Python.Env == "" || r.synced().Made || source.Path != "" && r.yields()
}

// yields reports whether an activated environment is used only because the plugin has none.
func (r *Plan) yields() bool {
	activated := r.Python.Source == interp.SourceActive || r.Python.Source == interp.SourceConda
	return activated && !r.Config.Active && !slices.ContainsFunc(r.Plugin.Project.Dirs, func(dir string) bool {
		within, err := filepath.Rel(dir, r.Python.Env)
		return err == nil && filepath.IsLocal(within)
	})
}

// PythonNotes returns notes about the Pythons that a start skips, see [interp.Interpreter.Skipped],
// and about an environment that may not satisfy the plugin's requirements.
func (r *Plan) PythonNotes() (notes []string) {
	for _, skipped := range r.Python.Skipped {
		note := skipped.String()
		if skipped.Code == interp.ToolRuns || skipped.Source == interp.SourcePin {
			note += "; " + hook.Word(skipped.Fix)
		}
		if skipped.Path != r.Python.Env {
			note += "; using " + r.Python.Path
		}
		notes = append(notes, note)
	}
	if stale := r.SyncStale(); stale != "" {
		notes = append(notes, stale)
	}
	return notes
}

// synced returns the state of the environment of the plugin's Python.
func (r *Plan) synced() env.State {
	if r.Python.Env == "" {
		return env.State{}
	}
	return env.Look(r.Python.Env, r.Plugin.Entry, r.Plugin.Project.Dirs)
}

// SyncMarker returns a file that changes at each sync of the environment of the plugin's Python.
func (r *Plan) SyncMarker() string { return filepath.Join(r.Python.Env, interp.EnvMarker) }

// SyncStale says that the environment that pyplug made may not satisfy the plugin's requirements
// any more, and what to do. It returns "" otherwise.
func (r *Plan) SyncStale() string {
	if stale := r.synced().Stale; stale != "" {
		return stale + "; run `" + r.Sync + "`"
	}
	return ""
}
