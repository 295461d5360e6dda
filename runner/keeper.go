package runner

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"sync"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/manifest"
	"github.com/pyplug/pyplug/runner/plan"
	"github.com/pyplug/pyplug/runner/pool"
	"github.com/pyplug/pyplug/runner/proc"
	"github.com/pyplug/pyplug/runner/schema"
)

// leastDrain is the minimum time that a replaced worker gets to finish its calls.
const leastDrain = 2 * time.Minute

// Keeper controls the life of one plugin: [Open] resolves it, [Keeper.Start] starts it and keeps it
// alive, [Keeper.Reload] loads its current files, [Keeper.Close] drains and stops it. The resolved
// plan never changes. A Keeper is safe for concurrent use, except that Start must return before the
// methods of the pool are called. The zero value is a plugin that is not resolved.
type Keeper struct {
	plan.Plan
	*Pool // nil until the plugin starts

	// The following are nil until the plugin is opened.
	transport transport
	files     *files
	launcher  *launcher // shared by all pools

	mu   sync.Mutex // protects more
	more []*Pool    // the pools of Fresh
}

// Pool is a running plugin. See [pool.Pool].
type Pool = pool.Pool

// Open resolves a plugin: its path, manifest, interpreter, transport and settings. It starts
// nothing. The result is never nil. If there is an error, it contains the parts that were resolved
// before. The error is a [*hook.Error] of the kinds Usage, Interpreter and Canceled. Open returns
// when ctx ends, even while it reads a file that blocks.
func Open(ctx context.Context, c plan.Config) (*Keeper, error) {
	k, err := hook.Interruptible(ctx, func() (*Keeper, error) { return open(ctx, c) })
	if k == nil {
		k = &Keeper{Plan: plan.Plan{Config: c}}
	}
	return k, err
}

// Debug replaces this process with a Python that makes a call in the terminal and opens the
// debugger at an exception. It returns only if it fails.
func (k *Keeper) Debug(c hook.Call) error { return k.transport.debug(c) }

// openers maps the name of a transport to the function that opens its plugins.
var openers = map[string]func(plan.Plan) (transport, error){"pipe": openFunctions, "grpc": openServer}

func open(ctx context.Context, c plan.Config) (k *Keeper, err error) {
	k = &Keeper{}
	if k.Plan, err = plan.Resolve(ctx, c); err != nil {
		return k, err
	}
	if k.transport, err = openers[k.Config.Transport](k.Plan); err != nil {
		return k, hook.NewError(hook.Usage, err)
	}
	k.files = newFiles(&k.Plan, k.transport)
	k.launcher = &launcher{Launcher: k.transport.launcher()}
	if !c.Once {
		k.launcher.files = k.files
	}
	return k, nil
}

// Start starts the plugin and keeps it alive according to the settings of [Keeper.Config]. It
// returns when the first worker is ready. If the first start fails, Start returns its error without
// retrying. The error is of kind Interpreter, Start, Handshake, Unhealthy, Internal or Canceled, or
// is the error of a bootstrap call. After an error nothing is left, and Start may be called again.
func (k *Keeper) Start(ctx context.Context) error {
	if k.Config.Note != nil && k.Lacks != "" {
		k.Config.Note(k.Lacks)
	}
	p, err := k.startPool(ctx)
	if err != nil {
		return err
	}
	k.Pool = p
	if text := manyWorkers(k.Config.Workers, runtime.GOMAXPROCS(0), proc.Memory(k.Newest().PID)); k.Config.Note != nil && text != "" {
		k.Config.Note(text)
	}
	return nil
}

// usualWorkers is the largest number of workers that needs no note.
const usualWorkers = 8

// manyWorkers returns a note if more workers run than are likely to help, or "". memory is the
// number of bytes that one worker uses, or 0 if it is unknown.
func manyWorkers(workers, cores int, memory int64) string {
	if workers <= max(usualWorkers, cores) {
		return ""
	}
	text := fmt.Sprintf("%d workers on %s: more than %d rarely help", workers, schema.Plural(cores, "core"), max(usualWorkers, cores))
	if memory > 0 {
		text += fmt.Sprintf("; each uses up to %d MB of memory, all of them up to %d MB", memory>>20, int64(workers)*memory>>20)
	}
	return text
}

// Fresh starts one more pool of a started plugin. The pools share the resources that make a start
// cheap. [Keeper.Close] closes the pool, unless the caller has closed it.
func (k *Keeper) Fresh(ctx context.Context) (*Pool, error) {
	p, err := k.startPool(ctx)
	if err != nil {
		return nil, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.more = append(k.more, p)
	return p, nil
}

func (k *Keeper) startPool(ctx context.Context) (*Pool, error) {
	c := k.Config
	opt := pool.Options{
		Workers:     c.Workers,
		Concurrency: c.Concurrency,
		Queue:       c.Queue,
		Policy: pool.Policy{
			Restart: c.Restart.Policy, MaxFailures: max(0, c.Restart.Max),
			Backoff: c.Restart.Backoff, BackoffMax: c.Restart.BackoffMax, HealthyAfter: c.Restart.HealthyAfter,
		},
		Patient:       c.Patient,
		MaxCalls:      max(0, c.Limits.Calls),
		MaxAge:        max(0, c.Limits.Age),
		MaxMemory:     max(0, c.Limits.Memory),
		Memory:        proc.Memory,
		Bootstrap:     k.calls().bootstrap,
		Shutdown:      k.calls().shutdown,
		ReplayTimeout: c.Timeouts.Call,
		Probe:         c.ProbeEvery,
		ProbeTimeout:  c.Timeouts.Probe,
		Drain:         max(c.Timeouts.Call, leastDrain),
		Await:         c.Await,
		Events:        k.event,
		Note:          c.Note,
	}
	if k.Plugin.Manifest.CarriesErrors {
		opt.Call = callIn
	}
	if c.Once {
		opt.Probe, opt.MaxMemory = -1, 0
	} else {
		opt.Version = k.files.version
	}
	k.launcher.pools.Add(1)
	return pool.Start(ctx, k.launcher, opt)
}

// event reports a transition.
func (k *Keeper) event(e hook.Event) {
	if k.Config.Debug != nil {
		k.Config.Debug("state", k.Plugin.ID+" is "+string(e.To))
	}
	if k.Config.Events != nil {
		k.Config.Events(e)
	}
}

// Launch starts one process and returns it before its bootstrap calls. The plugin must have been
// opened with [plan.Config].Once. The errors are the same as those of a [hook.Launcher].
func (k *Keeper) Launch(ctx context.Context) (Process, error) {
	inst, err := k.launcher.Launch(ctx)
	return Process{Instance: inst, launcher: k.launcher.Launcher, calls: k.calls()}, err
}

func (k *Keeper) calls() calls {
	c := k.Config
	return calls{c.Bootstrap, c.Shutdown, c.Timeouts.Call, k.Plugin.Manifest.CarriesErrors}
}

// Close drains and stops all pools, see [pool.Pool.Close]. It may be called before a start.
func (k *Keeper) Close(ctx context.Context) (err error) {
	k.mu.Lock()
	more := k.more
	k.mu.Unlock()
	var stops sync.WaitGroup
	for _, p := range more {
		stops.Go(func() { _ = p.Close(ctx) }) // Close reports only the first pool's error
	}
	if k.Pool != nil {
		err = k.Pool.Close(ctx)
	}
	stops.Wait()
	return err
}

// Complete returns an error of the plugin with all its hints and the plugin's name.
func (k *Keeper) Complete(err error) *hook.Error {
	e := *hook.AsError(err)
	e.Hints = k.Hints(&e)
	if e.Plugin == "" && e.Kind != hook.Usage {
		e.Plugin = k.About()
	}
	return &e
}

// About names the plugin and its Python as errors do.
func (k *Keeper) About() string {
	if k.Python.Path == "" || k.Plugin.Kind == manifest.Executable {
		return k.Config.Plugin
	}
	return fmt.Sprintf("%s (python %s, %s)", k.Config.Plugin, k.PythonVersion(), cmp.Or(k.Python.Env, k.Python.Path))
}

// PythonVersion returns the version that the newest start reported, or else the version in the
// Python's files.
func (k *Keeper) PythonVersion() string {
	return cmp.Or(k.Newest().Python, k.Interpreter().Version.String())
}

// Newest describes the newest process that was ready. It is the zero Info if no process was ready.
func (k *Keeper) Newest() hook.Info {
	if k.launcher != nil {
		if info := k.launcher.newest.Load(); info != nil {
			return *info
		}
	}
	return hook.Info{}
}

// TakesSeries reports whether workers can make a [hook.Series]. They can if they make one call at a
// time and their results cannot contain errors.
func (k *Keeper) TakesSeries() bool {
	return k.transport.takesSeries() && !k.Plugin.Manifest.CarriesErrors
}

// Program returns how to start a gRPC plugin. It returns the zero value for other plugins.
func (k *Keeper) Program() Program { return programOf(k.transport) }

// Evidence returns the evidence of a gRPC plugin's newest start, even if that failed. It returns
// the zero value for other plugins.
func (k *Keeper) Evidence() Evidence { return evidenceOf(k.transport) }

// Memory returns the resident memory of the plugin's processes and their descendants in bytes, or 0
// if the system does not report it.
func (k *Keeper) Memory() int64 { return proc.TotalMemory() }

// CPU returns the processor time that the plugin's processes and their descendants have used, or 0
// if the system does not report it.
func (k *Keeper) CPU() time.Duration { return proc.TotalCPU() }

// Shutdown releases resources that all plugins of this process share. Call it after the last plugin
// is closed.
func Shutdown() { proc.Close() }

// Lacks returns what this system does not support, or "".
func Lacks() string { return proc.Lacks() }
