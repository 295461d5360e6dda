package runner

import (
	"cmp"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/pyworker"
)

// functions is a functions file, which workers of ours import.
type functions struct {
	*Opened
	workers *pyworker.Launcher // of all pools; it knows which files were imported
}

// openFunctions is the opening of a functions file.
func openFunctions(o *Opened) (transport, error) {
	if o.config.Transport == "" && len(o.plugin.Manifest.Args) > 0 {
		return nil, o.plugin.OnlyGRPC("args")
	}
	start := &o.settings.Timeouts.Start
	*start = cmp.Or(*start, o.config.DefaultStart, DefaultImport)
	f := &functions{Opened: o}
	f.workers = f.newWorkers(o.keep.Preload)
	return f, nil
}

func (f *functions) newLauncher(single bool) hook.Launcher {
	if single {
		return f.newWorkers("off")
	}
	return f.workers
}

func (f *functions) newWorkers(preload string) *pyworker.Launcher {
	convert := f.plugin.Manifest.Convert
	return pyworker.New(pyworker.Config{
		Python:       f.python.Path,
		Plugin:       f.plugin.Entry,
		Module:       f.plugin.Module,
		From:         f.plugin.From,
		Env:          f.environ,
		Dir:          f.settings.Dir,
		NaN:          f.config.NaN,
		NoConvert:    f.config.NoConvert || convert != nil && !*convert,
		Probe:        f.plugin.Manifest.Probe,
		Concurrency:  f.keep.Concurrency,
		Threads:      f.keep.Threads,
		Preload:      preload,
		Note:         f.keep.Note,
		StartTimeout: f.settings.Timeouts.Start,
		StopTimeout:  f.settings.Timeouts.Stop,
		MaxMemory:    f.keep.MaxMemory,
		Output:       f.config.Output,
		Debug:        f.config.Debug,
		DebugWire:    f.config.DebugWire,
	})
}

func (f *functions) watched() (func() []string, bool) { return f.workers.Files, false }

func (f *functions) takesSeries() bool { return f.keep.Concurrency == 1 && !f.keep.Threads }

// programHint is for a file that is a program: it may be a gRPC plugin, or one of another
// host.
func (f *functions) programHint() []string {
	if host := f.OtherHost(); host.SDK != "" {
		return []string{"it is built on " + host.SDK + ", for " + host.Starts}
	}
	if part := f.programPart(); part != "" {
		return []string{"if its " + part + " serves gRPC, pass --transport grpc"}
	}
	return nil
}
