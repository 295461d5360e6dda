package commands

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/pyplug/pyplug/commands/cmdline"
	"github.com/pyplug/pyplug/commands/ui"
	"github.com/pyplug/pyplug/runner"
	"github.com/pyplug/pyplug/runner/bench"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/manifest"
)

// benchOptions are the options of bench.
type benchOptions struct {
	callOptions
	measure bench.Options
}

func benchCommand(prog *program) command {
	o := &benchOptions{measure: bench.DefaultOptions()}
	flags := slices.Concat(cmdline.Flags{
		cmdline.Count(&o.measure.Rounds, 1, 1<<31-1, "rounds", "make at most `N` calls in a phase (default: 10000)"),
		cmdline.Duration(&o.measure.Limit, "limit", "start no call of a phase after `DURATION`, 0 for no limit (default: 3s)"),
		cmdline.Count(&o.measure.Jobs, 1, 1<<31-1, "jobs", "make at most `N` calls at once in the phase pipelined (default: 64)"),
		cmdline.List(&o.measure.Skip, "skip", "skip these `PHASES` of "+strings.Join(bench.Names(), ","), bench.Names()),
		timeoutFlag(&o.Config),
		inputFlag(&o.input),
	}, launchFlags(&o.Config), prog.opts.flags())
	cmd := newCommand("bench", "measure how long a plugin's start, calls and restart take", "PLUGIN HOOK [ARG...]",
		flags, func(ctx context.Context, words []string) error {
			if err := prog.readBench(ctx, words, o); err != nil {
				return err
			}
			return prog.bench(ctx, *o)
		})
	cmd.names, cmd.config = 2, &o.Config
	return cmd
}

// readBench reads the command line of bench.
func (prog *program) readBench(ctx context.Context, words []string, o *benchOptions) error {
	if err := prog.readRun(ctx, words, &o.callOptions); err != nil {
		return err
	}
	if !slices.ContainsFunc(bench.Names(), func(name string) bool { return !slices.Contains(o.measure.Skip, name) }) {
		return cmdline.Usage("--skip leaves no phase of %s", strings.Join(bench.Names(), ","))
	}
	jobs := o.measure.Concurrent()
	o.Config.Keep.Restart = "always" // the phase crash measures a restart
	o.Config.Keep.DefaultConcurrency = min(jobs, runner.MaxConcurrency)
	if o.Config.Keep.Queue == 0 {
		o.Config.Keep.Queue = max(jobs, runner.DefaultQueue)
	}
	return nil
}

// bench measures a plugin and prints the phases. After an error it prints those before it.
func (prog *program) bench(ctx context.Context, o benchOptions) error {
	t := &benchTarget{prog: prog, o: o, stopWaiting: func() {}}
	defer t.close()
	tried, err := t.try(ctx)
	if err != nil {
		return err
	}
	phases, err := bench.Measure(ctx, t, o.measure)
	t.stopWaiting()
	err = cmp.Or(t.kept, tried).failed(err)
	if len(phases) > 0 {
		measured := ui.BenchResult{Plugin: o.Config.Plugin, Hook: o.call.Hook, Transport: t.settings.Transport, Python: tried.pythonVersion()}
		for _, p := range phases {
			measured.Phases = append(measured.Phases, p.Figures())
		}
		printed := prog.write(prog.signals.kill, func() error { return prog.streams.Bench(measured, prog.opts.json) })
		err = cmp.Or(err, printed)
	}
	return err
}

// benchTarget is a plugin for bench. It is kept alive only after the phase cold: a
// plugin that listens at a fixed port could not run beside those of that phase.
type benchTarget struct {
	prog     *program
	o        benchOptions
	settings runner.Config
	kept     *plugin // nil until a phase other than cold begins
	several  bool    // calls are made at once

	stopWaiting func() // ends the line that shows the phase
}

// try makes the call once, so that an error is reported before a thousand calls.
func (t *benchTarget) try(ctx context.Context) (*plugin, error) {
	cfg := t.o.Config
	cfg.Once = true
	p := t.prog.newPlugin(cfg.Plugin, true)
	err := p.start(ctx, cfg, func(s *runner.Opened) error {
		t.settings = s.Config()
		if err := t.prog.readInput(ctx, s.Transport().Streams, &t.o.callOptions); err != nil {
			return err
		}
		if t.o.stream != nil {
			return cmdline.Usage("--input of %s is a stream, which is read once: want a hook that takes one message", t.o.call.Hook)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	defer p.close()
	p.noteReady()
	return p, p.failed(t.within(ctx, p.pool))
}

// Begin prepares a phase. It starts the plugin of Call and Crash, once.
func (t *benchTarget) Begin(ctx context.Context, phase string) (err error) {
	t.stopWaiting()
	t.several = phase == bench.Pipelined
	if phase != bench.Cold && t.kept == nil {
		t.kept = t.prog.newPlugin(t.o.Config.Plugin, true)
		err = t.kept.start(ctx, t.o.Config, nil)
	}
	if err == nil {
		t.stopWaiting = t.prog.streams.Waiting("measuring " + phase)
	}
	return err
}

// close stops that plugin.
func (t *benchTarget) close() {
	if t.kept != nil {
		t.kept.close()
	}
}

// Cold makes one call as `run` does.
func (t *benchTarget) Cold(ctx context.Context) error {
	cfg := t.o.Config
	cfg.Once = true
	o, err := runner.Open(ctx, cfg)
	if err != nil {
		return err
	}
	p, err := o.Start(ctx)
	if err != nil {
		return err
	}
	err = t.within(ctx, p)
	if closeErr := p.Close(ctx); err == nil && closeErr != nil {
		err = hook.AsError(closeErr)
	}
	return err
}

// Call makes one call of the plugin that is kept.
func (t *benchTarget) Call(ctx context.Context) error { return t.within(ctx, t.kept.pool) }

// within makes the call with its timeout, and drops the items of a stream. Concurrent calls
// may wait for each other, so their timeout is longer by the limit of a phase.
func (t *benchTarget) within(ctx context.Context, caller hook.Caller) error {
	limit := t.settings.Timeouts.Call
	if t.several {
		limit = min(limit, manifest.Forever-t.o.measure.Limit) + t.o.measure.Limit
	}
	ctx, cancel := hook.WithLimit(ctx, limit)
	defer cancel()
	_, err := caller.Call(ctx, t.o.call)
	return err
}

// Crash kills the worker and waits for the next one.
func (t *benchTarget) Crash(ctx context.Context) error {
	ctx, cancel := hook.WithLimit(ctx, t.settings.Timeouts.Start+runner.DefaultStop) // that of a start, and a little more
	defer cancel()
	return t.kept.pool.Recover(ctx)
}
