package runner

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/pyplug/pyplug/interp/pysrc"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/proc"
	"github.com/pyplug/pyplug/runner/pyworker"
	"github.com/pyplug/pyplug/runner/schema"
	"github.com/pyplug/pyplug/runner/settings"
)

// functions is a functions file, which workers of ours import.
type functions struct {
	resolved
	workers *pyworker.Launcher // of all pools; it knows which files were imported
}

// openFunctions opens a functions file.
func openFunctions(r resolved) (transport, error) {
	c := r.config
	return &functions{r, pyworker.New(pyworker.Config{
		Python:       r.python.Path,
		Plugin:       r.plugin.Entry,
		Place:        r.imported,
		Env:          r.environ,
		Dir:          r.dir,
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
		Missing:      r.missingHints,
		Debug:        c.Debug,
		DebugWire:    c.DebugWire,
	})}, nil
}

func (f *functions) launcher() hook.Launcher { return f.workers }

func (f *functions) watched() []string { return f.workers.Files() }

func (f *functions) takesSeries() bool {
	return f.config.Concurrency == 1 && f.config.Threads != settings.On
}

//go:embed names.py
var namesSource string

// sourceHooks runs a Python that parses the file.
func (f *functions) sourceHooks(ctx context.Context) (hooks []schema.Hook) {
	scripts, _, _ := f.Source()
	python, vars, err := f.reader(ctx)
	if len(scripts) == 0 || err != nil {
		return nil
	}
	// Isolated and without site: the plugin's own directories and packages do not matter.
	out, err := proc.Run(ctx, proc.Tool{Path: python, Args: []string{"-I", "-S", "-c", namesSource, scripts[0]}, Env: vars, MaxOutput: 4 << 20})
	if answer, ok := Marked(out.Stdout); err == nil && ok {
		_ = json.Unmarshal(answer, &hooks) // empty if Python cannot parse the file
	}
	return hooks
}

// workerCache returns the directory of the worker. workerIdentity returns a value that changes
// with the worker's source.
func workerCache() (string, error) { return pyworker.CacheDir() }

func workerIdentity() string { return pyworker.Identity() }

// ProgramHint says that a functions file without hooks may be a gRPC plugin.
func (r *resolved) ProgramHint() []schema.Hint {
	if r.Transport().Serves {
		return nil
	}
	if part := r.programPart(); part != "" {
		return schema.Hints("if its %s serves gRPC, pass %s grpc", part, schema.Setting("transport"))
	}
	return nil
}

// mainBlock matches the statement that only a program runs.
var mainBlock = pysrc.Expression(`(?m)^if .*__name__.*__main__|^if .*__main__.*__name__`)

// programPart names the part of the plugin that Python executes only if it runs the plugin as
// a program, or "".
func (r *resolved) programPart() string {
	entry := r.plugin.Entry
	if _, err := os.Stat(filepath.Join(entry, "__main__.py")); err == nil {
		return "__main__.py"
	}
	if text, ok := pysrc.Read(entry, pysrc.LargestFile); ok && mainBlock().MatchString(text) {
		return "__main__ block"
	}
	return ""
}

// MCPServer returns a usage error if the plugin's file serves the Model Context Protocol by itself.
func (r *resolved) MCPServer() error {
	for _, file := range r.parsed() {
		if name, class := file.MCPServer(); name != "" {
			return &hook.Error{Kind: hook.Usage, Err: fmt.Errorf("%s is an MCP server already: %s is a %s object", r.config.Plugin, name, class), Hints: []schema.Hint{
				schema.Hintf("its own library runs it, as with `python %s`", r.config.Plugin),
				schema.Hintf("to serve its functions here, delete %s and the decorators @%s.tool", name, name),
			}}
		}
	}
	return nil
}

// parsed returns the files that Python runs, as far as they can be read.
func (r *resolved) parsed() (files []pysrc.File) {
	scripts, _, _ := r.Source()
	for _, script := range scripts {
		if text, ok := pysrc.Read(script, pysrc.LargestFile); ok {
			files = append(files, pysrc.Parse(script, text))
		}
	}
	return files
}
