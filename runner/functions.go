package runner

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"github.com/pyplug/pyplug/interp/pysrc"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/proc"
	"github.com/pyplug/pyplug/runner/pyworker"
	"github.com/pyplug/pyplug/runner/schema"
)

// functions is a functions file, which workers of ours import.
type functions struct {
	*Opened
	workers *pyworker.Launcher // of all pools; it knows which files were imported
}

// openFunctions opens a functions file.
func openFunctions(o *Opened) (transport, error) {
	if o.config.Transport == "" && len(o.plugin.Manifest.Args) > 0 {
		return nil, o.plugin.OnlyGRPC("args")
	}
	start := &o.settings.Timeouts.Start
	*start = cmp.Or(*start, o.config.DefaultStart, DefaultImport)
	convert := o.plugin.Manifest.Convert
	return &functions{o, pyworker.New(pyworker.Config{
		Python:       o.python.Path,
		Plugin:       o.plugin.Entry,
		Place:        o.imported,
		Env:          o.environ,
		Dir:          o.settings.Dir,
		NaN:          o.config.NaN,
		NoConvert:    o.config.NoConvert || convert != nil && !*convert,
		Probe:        o.plugin.Manifest.Probe,
		Concurrency:  o.keep.Concurrency,
		Threads:      o.keep.Threads,
		Preload:      o.keep.Preload,
		Note:         o.keep.Note,
		StartTimeout: o.settings.Timeouts.Start,
		StopTimeout:  o.settings.Timeouts.Stop,
		MaxMemory:    o.keep.MaxMemory,
		Output:       o.config.Output,
		Debug:        o.config.Debug,
		DebugWire:    o.config.DebugWire,
	})}, nil
}

func (f *functions) place() pysrc.Place { return f.imported() }

func (f *functions) launcher() hook.Launcher { return f.workers }

func (f *functions) watched() (func() []string, bool) { return f.workers.Files, false }

func (f *functions) takesSeries() bool { return f.keep.Concurrency == 1 && !f.keep.Threads }

// ProgramHint says that a functions file without hooks may be a gRPC plugin.
func (o *Opened) ProgramHint() []schema.Hint {
	if o.Transport().Serves {
		return nil
	}
	if part := o.programPart(); part != "" {
		return schema.Hints("if its %s serves gRPC, pass %s grpc", part, schema.Setting("transport"))
	}
	return nil
}

// mainBlock matches the statement that only a program runs.
var mainBlock = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^if .*__name__.*__main__|^if .*__main__.*__name__`)
})

// MCPServer returns a usage error if the plugin's file serves the Model Context Protocol by itself.
func (o *Opened) MCPServer() error {
	for file := range o.parsed() {
		if name, class := file.MCPServer(); name != "" {
			return &hook.Error{Kind: hook.Usage, Err: fmt.Errorf("%s is an MCP server already: %s is a %s object", o.config.Plugin, name, class), Hints: []schema.Hint{
				schema.Hintf("its own library runs it, as with `python %s`", o.config.Plugin),
				schema.Hintf("to serve its functions here, delete %s and the decorators @%s.tool", name, name),
			}}
		}
	}
	return nil
}

// OtherHost returns the SDK of a host other than go-plugin's if the plugin is a program on it, and
// how that host starts it.
func (o *Opened) OtherHost() (sdk, starts string) {
	if o.settings.Transport == "" || o.settings.Why != "" || o.Transport().Serves || o.programPart() == "" {
		return "", ""
	}
	for file := range o.parsed() {
		if sdk, starts = file.OtherHost(); sdk != "" {
			break
		}
	}
	return sdk, starts
}

// parsed yields the plugin's own files.
func (o *Opened) parsed() iter.Seq[pysrc.File] {
	return func(yield func(pysrc.File) bool) {
		scripts, _, _ := o.Source()
		for _, script := range scripts {
			if text, ok := pysrc.Read(script, pysrc.LargestFile); ok && !yield(pysrc.Parse(script, text)) {
				return
			}
		}
	}
}

// programPart names the part of the plugin that Python executes only if it runs the plugin as
// a program, or "".
func (o *Opened) programPart() string {
	entry := o.plugin.Entry
	if _, err := os.Stat(filepath.Join(entry, "__main__.py")); err == nil {
		return "__main__.py"
	}
	if text, ok := pysrc.Read(entry, pysrc.LargestFile); ok && mainBlock().MatchString(text) {
		return "__main__ block"
	}
	return ""
}

//go:embed names.py
var namesSource string

// SourceHooks returns a plugin's hooks with the first line of their documentation, and their
// parameters with their choices, as far as its files show them. It starts neither the plugin nor anything else that its
// files choose. After an error it returns no hooks.
func SourceHooks(ctx context.Context, c Config) []schema.Hook {
	c.Untrusted = true
	o, err := Open(ctx, c)
	if err != nil {
		return nil
	}
	return o.transport.sourceHooks(ctx)
}

// sourceHooks runs a Python that parses the file.
func (f *functions) sourceHooks(ctx context.Context) (hooks []schema.Hook) {
	scripts, _, _ := f.Source()
	python, vars, err := f.reader(ctx)
	if len(scripts) == 0 || err != nil {
		return nil
	}
	// Isolated and without site: the plugin's own directories and packages do not matter.
	out, err := proc.Run(ctx, proc.Tool{Path: python, Args: []string{"-I", "-S", "-c", namesSource, scripts[0]}, Env: vars})
	if err != nil || out.Exit.Code != 0 {
		return nil
	}
	for line := range strings.Lines(string(out.Stdout)) {
		var h schema.Hook
		if json.Unmarshal([]byte(line), &h) == nil {
			hooks = append(hooks, h)
		}
	}
	return hooks
}

// workerCache returns the directory of the worker. workerIdentity returns a value that changes
// with the worker's source.
func workerCache() (string, error) { return pyworker.CacheDir() }
func workerIdentity() string       { return pyworker.Identity() }
