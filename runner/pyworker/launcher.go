package pyworker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/pyplug/pyplug/interp/pysrc"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/proc"
	"github.com/pyplug/pyplug/runner/schema"
	"github.com/pyplug/pyplug/runner/settings"
)

// Config says what a [Launcher] starts. It is copied and never changed.
type Config struct {
	// Python is the absolute, unresolved path of the interpreter.
	Python string
	// Plugin is the absolute path of the file or package directory.
	Plugin string
	// Place returns how the plugin is imported. It is called at every start, because the
	// file may have changed. Nil means [pysrc.PlaceOf] of Plugin.
	Place func() pysrc.Place
	// Env is the whole environment, and Dir the working directory. Each defaults to
	// pyplug's own.
	Env []string
	Dir string
	// NaN says how a NaN or an infinity in a result is represented: "error", the
	// default, "null" or "literal".
	NaN string
	// NoConvert passes arguments as they are in the JSON, whatever the annotations are.
	NoConvert bool
	// Probe names the hook that reports health. Empty means "health", if there is one.
	Probe string
	// Concurrency is the maximum number of calls that one worker takes at once. Zero means 1.
	Concurrency int
	// Threads runs the plain functions of one worker in threads, up to Concurrency
	// at once. Otherwise they run one after the other, in the order of the calls,
	// and only coroutines run at once. The plugin must be thread-safe.
	Threads bool
	// StartTimeout bounds the import. Zero means the default of the setting.
	StartTimeout time.Duration
	// StopTimeout is the time from the first signal of the stop ladder to the kill. Zero means
	// the default of the setting.
	StopTimeout time.Duration
	// MaxMemory is the maximum memory in bytes of a worker and its children. Zero means no limit.
	MaxMemory int64
	// Preload says whether workers are forked from a process that has imported the
	// plugin. "off" or empty means never, "auto" means if that is safe, and "force" means
	// if it is possible. Workers are forked on Linux only.
	Preload string
	// Note receives, once, the reason why workers are not forked although Preload
	// asks for it. Nil discards it.
	Note func(text string)
	// Output receives the plugin's output, a line at a time. Nil discards it. Several
	// processes may call it at once.
	Output func(stream, text string, cut int)
	// Missing returns hints on how to provide a module that the plugin lacks. It may be nil.
	Missing func(*schema.MissingModuleError) []schema.Hint
	// Debug receives log lines for a developer. Nil discards them. The areas are
	// "proc" and, with DebugWire, "wire" for each frame.
	Debug     func(area, text string)
	DebugWire bool
}

// Launcher starts workers for one functions file. It is safe for concurrent use.
type Launcher struct {
	cfg      Config
	preload  preload
	imported atomic.Bool // an import of the plugin has succeeded

	mu    sync.Mutex
	files map[string]struct{} // the plugin's own files
}

var _ hook.Launcher = (*Launcher)(nil)

// New returns a launcher. It does not start a process.
func New(cfg Config) *Launcher {
	usual := settings.Defaults()
	cfg.NaN, cfg.Concurrency = cmp.Or(cfg.NaN, usual.NaN), max(cfg.Concurrency, 1)
	cfg.StartTimeout = cmp.Or(cfg.StartTimeout, usual.Timeouts.Start)
	cfg.StopTimeout = cmp.Or(cfg.StopTimeout, usual.Timeouts.Stop)
	if cfg.Output == nil {
		cfg.Output = func(string, string, int) {}
	}
	if cfg.Debug == nil {
		cfg.Debug = func(string, string) {}
	}
	if cfg.Place == nil {
		cfg.Place = func() pysrc.Place { return pysrc.PlaceOf(cfg.Plugin, nil) }
	}
	if cfg.Missing == nil {
		cfg.Missing = func(*schema.MissingModuleError) []schema.Hint { return nil }
	}
	if cfg.Note == nil {
		cfg.Note = func(string) {}
	}
	return &Launcher{cfg: cfg, files: make(map[string]struct{}), preload: preload{turn: make(chan struct{}, 1)}}
}

// Files lists the absolute paths of the plugin's own files that its workers have loaded
// so far, even in starts that failed. It includes the files that would provide a missing
// module. It omits installed packages.
func (l *Launcher) Files() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Sorted(maps.Keys(l.files))
}

func (l *Launcher) addFiles(files []schema.Path) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, path := range files {
		l.files[string(path)] = struct{}{}
	}
}

// Launch starts one worker and returns it when the file is loaded. See [hook.Launcher]
// for the promises. The kind of an error is Interpreter if Python failed before it ran
// the worker, and Start if the file was not loaded.
func (l *Launcher) Launch(ctx context.Context) (hook.Instance, error) {
	w, err := l.launch(ctx)
	if err != nil {
		return nil, err
	}
	return w, nil
}

func (l *Launcher) launch(ctx context.Context) (*instance, *hook.Error) {
	switch {
	case l.preload.byExec.Load() || l.cfg.Preload != "auto" && l.cfg.Preload != "force":
	case proc.CanFork():
		return l.launchPreloaded(ctx)
	case l.cfg.Preload == "force":
		l.useExec("it needs Linux 5.3 or later")
	}
	return l.startPython(ctx, "")
}

// startPython starts a Python that imports the plugin. With preload, it may become a zygote.
func (l *Launcher) startPython(ctx context.Context, preload string) (*instance, *hook.Error) {
	began := time.Now()
	spec := l.spec()
	spec.Args, spec.Forks = l.args(preload), preload != ""
	p, err := proc.Start(spec)
	if err != nil {
		e := hook.NewError(hook.Interpreter, err)
		e.Permanent = !isExhausted(err)
		if !e.Permanent {
			e.Kind = hook.Start
		}
		return nil, e
	}
	l.cfg.Debug("proc", fmt.Sprintf("started %s, pid %d", l.cfg.Python, p.PID()))
	inst := newInstance(l, p, began)
	if failed := inst.start(ctx); failed != nil {
		return nil, failed
	}
	return inst, nil
}

// args returns the arguments of a Python that runs the worker. The first ones are for
// worker/boot.py. Those for worker/start.py follow: the plugin's path, the words of its place, the
// signal that makes Python print all stacks, how NaN is represented, the health function's name,
// how calls run, whether to preload, and whether annotations convert arguments.
func (l *Launcher) args(preload string) []string {
	cache, err := cache()
	if err != nil {
		l.cfg.Debug("proc", fmt.Sprintf("the worker's byte code was not stored: %s", err))
	}
	calls, annotations := "", "convert"
	if l.cfg.NoConvert {
		annotations = "off"
	}
	switch {
	case l.cfg.Threads:
		calls = "threads"
	case l.cfg.Concurrency > 1, lateInterrupts:
		calls = "pipeline"
	}
	return slices.Concat([]string{"-c", runBoot(), proc.DescriptorsArg, cache, Identity(), l.cfg.Plugin}, l.cfg.Place().Words(),
		[]string{strconv.Itoa(stackSignal), l.cfg.NaN, l.cfg.Probe, calls, preload, annotations})
}

// spec describes the process of a worker, without its arguments.
func (l *Launcher) spec() proc.Spec {
	return proc.Spec{
		Path: l.cfg.Python,
		Env:  l.cfg.Env,
		Dir:  l.cfg.Dir,
		Talk: true,
		OnLine: func(line proc.Line) {
			if !ownFrame(line.Text) {
				l.cfg.Output(string(line.Stream), line.Text, line.Cut)
			}
		},
		StackSignal: stackSignal,
		Grace:       l.cfg.StopTimeout,
		MaxMemory:   l.cfg.MaxMemory,
	}
}

// isExhausted reports whether the system lacks the resources for another process.
func isExhausted(err error) bool {
	full := []error{syscall.EMFILE, syscall.ENFILE, syscall.EAGAIN, syscall.ENOMEM}
	return slices.ContainsFunc(full, func(target error) bool { return errors.Is(err, target) })
}
