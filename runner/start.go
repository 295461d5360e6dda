package runner

import (
	"context"
	"time"

	"github.com/pyplug/pyplug/runner/grpcplugin"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/pool"
	"github.com/pyplug/pyplug/runner/proc"
	"github.com/pyplug/pyplug/runner/pyworker"
)

// leastDrain is how long the calls of a worker that is replaced may go on at least.
const leastDrain = 2 * time.Minute

// Start starts the plugin and keeps it alive as [Opened.KeepSettings] say. It returns
// when the first worker is ready. The error is that of the first start, which is not
// retried: of the kinds Interpreter, Start, Handshake, Unhealthy, Internal and
// Canceled, or those of a call if a bootstrap call failed. Nothing is left then.
func (o *Opened) Start(ctx context.Context) (*Pool, error) {
	l := &launcher{Launcher: o.worker, opened: o}
	if o.worker == nil {
		l.Launcher = o.Launcher()
	}
	if o.keep.Note != nil {
		for _, text := range []string{o.lacks, o.keep.tooMany()} {
			if text != "" {
				o.keep.Note(text)
			}
		}
	}
	opt, t := o.keep.Options, o.settings.Timeouts
	opt.Bootstrap, opt.Shutdown, opt.CallTimeout = o.Bootstrap(), o.Shutdown(), t.Call
	opt.ProbeTimeout, opt.Drain = t.Probe, max(t.Call, leastDrain)
	opt.MaxMemory, opt.Memory = opt.MaxMemory/5*4, proc.Memory
	opt.Events = o.event
	if field := o.settings.ErrorField; field != "" {
		opt.Call = func(ctx context.Context, inst hook.Caller, c hook.Call) (hook.Result, error) {
			return CallCarrying(ctx, inst, field, c)
		}
	}
	if o.config.Once {
		opt.Probe, opt.MaxMemory = -1, 0
	} else {
		opt.Version = o.files.version
	}
	return pool.Start(ctx, l, opt)
}

// event passes on a transition.
func (o *Opened) event(e hook.Event) {
	if o.config.Debug != nil {
		o.config.Debug("state", o.plugin.ID+" is "+string(e.To))
	}
	if o.keep.Events != nil {
		o.keep.Events(e)
	}
}

// Launcher returns a launcher that starts single processes of the plugin, for the one
// who looks at each: bootstrap calls, restarts and limits on calls are theirs.
func (o *Opened) Launcher() hook.Launcher {
	if o.worker != nil {
		return o.newWorkers("off")
	}
	c := o.grpc
	c.Output = o.config.Output
	return grpcplugin.New(c)
}

// newWorkers returns a launcher of a functions file.
func (o *Opened) newWorkers(preload string) *pyworker.Launcher {
	convert := o.plugin.Manifest.Convert
	return pyworker.New(pyworker.Config{
		Python:       o.python.Path,
		Plugin:       o.plugin.Entry,
		Module:       o.plugin.Module,
		From:         o.plugin.From,
		Env:          o.environ,
		Dir:          o.settings.Dir,
		NaN:          o.config.NaN,
		NoConvert:    o.config.NoConvert || convert != nil && !*convert,
		Probe:        o.plugin.Manifest.Probe,
		Concurrency:  o.keep.Concurrency,
		Threads:      o.keep.Threads,
		Preload:      preload,
		Note:         o.keep.Note,
		StartTimeout: o.settings.Timeouts.Start,
		StopTimeout:  o.settings.Timeouts.Stop,
		MaxMemory:    o.keep.MaxMemory,
		Output:       o.config.Output,
		Debug:        o.config.Debug,
		DebugWire:    o.config.DebugWire,
	})
}

// Pool is a plugin that runs. See [pool.Pool].
type Pool = pool.Pool
