package runner

import (
	"context"
	_ "embed"
	"encoding/json"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/plan"
	"github.com/pyplug/pyplug/runner/proc"
	"github.com/pyplug/pyplug/runner/pyworker"
	"github.com/pyplug/pyplug/runner/schema"
	"github.com/pyplug/pyplug/runner/settings"
)

// functions is a functions file. Workers import it.
type functions struct {
	plan.Plan
	workers *pyworker.Launcher // shared by all pools; knows the imported files
}

// openFunctions opens a functions file.
func openFunctions(r plan.Plan) (transport, error) {
	c := r.Config
	return &functions{r, pyworker.New(pyworker.Config{
		Python:       r.Python.Path,
		Plugin:       r.Plugin.Entry,
		Place:        r.Imported,
		Env:          r.Environ,
		Dir:          r.Dir,
		NaN:          c.NaN,
		NoConvert:    c.NoConvert == settings.On,
		Probe:        c.Probe,
		Concurrency:  c.Concurrency,
		Threads:      c.Threads == settings.On,
		Preload:      c.Preload,
		Note:         c.Note,
		StartTimeout: c.Timeouts.Start,
		StopTimeout:  c.Timeouts.Stop,
		MaxMemory:    max(0, c.Limits.Memory),
		Output:       c.Output,
		Missing:      r.MissingHints,
		Debug:        c.Debug,
		DebugWire:    c.DebugWire,
	})}, nil
}

func (f *functions) launcher() hook.Launcher { return f.workers }

func (f *functions) debug(c hook.Call) error { return f.workers.Debug(c) }

func (f *functions) watched() []string { return f.workers.Files() }

func (f *functions) takesSeries() bool {
	return f.Config.Concurrency == 1 && f.Config.Threads != settings.On
}

//go:embed names.py
var namesSource string

// sourceHooks returns the hooks in the file. It runs a Python that parses the file.
func (f *functions) sourceHooks(ctx context.Context) (hooks []schema.Hook) {
	scripts, _, _ := f.Source()
	python, vars, err := f.Reader(ctx)
	if len(scripts) == 0 || err != nil {
		return nil
	}
	// The options -I and -S exclude the plugin's own directories and packages.
	out, err := proc.Run(ctx, proc.Tool{Path: python, Args: []string{"-I", "-S", "-c", namesSource, scripts[0]}, Env: vars, MaxOutput: 4 << 20})
	if answer, ok := plan.Marked(out.Stdout); err == nil && ok {
		_ = json.Unmarshal(answer, &hooks) // no hooks if Python cannot parse the file
	}
	return hooks
}

// workerCache returns the directory of the worker. workerIdentity returns a value that changes
// with the worker's source.
func workerCache() (string, error) { return pyworker.CacheDir() }

func workerIdentity() string { return pyworker.Identity() }
