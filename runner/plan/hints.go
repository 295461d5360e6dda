package plan

import (
	"errors"
	"slices"

	"github.com/pyplug/pyplug/interp/missing"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/manifest"
	"github.com/pyplug/pyplug/runner/schema"
)

// Hints returns the hints of an error of the plugin, including those about its limits and its
// hooks.
func (r *Plan) Hints(e *hook.Error) []schema.Hint {
	hints := slices.Clone(e.Hints)
	if e.Exit != nil && e.Exit.Limit != "" {
		hints = append(hints, schema.Hintf("raise the limit with %s, or with limits.memory in the manifest", schema.Setting("max-memory")))
	}
	if bad, ok := errors.AsType[*schema.ArgumentError](e); ok && bad.Place == "" && bad.Err == nil && len(bad.Hints) == 0 {
		hooks := append(schema.Command{"hooks"}, manifest.TypedWords([]string{r.Config.Plugin, e.Hook})...)
		hints = append(hints, schema.Hintf("run %s to see its parameters", hooks))
	}
	if none, ok := errors.AsType[*schema.NoHookError](e); ok && len(none.Known) == 0 {
		hints = append(hints, r.ProgramHint()...)
	}
	return hints
}

// MissingHints returns hints that say how to provide a module that the plugin lacks.
func (r *Plan) MissingHints(e *schema.MissingModuleError) []schema.Hint {
	source, canSync := r.syncSource()
	return missing.Plugin{
		Python: r.Python, Environ: r.Environ, Place: r.Place(), Project: r.Plugin.Project,
		Source: source, CanSync: canSync, Sync: r.Sync, Dirs: r.shownDirs(),
	}.Hints(e)
}
