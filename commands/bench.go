package commands

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/pyplug/pyplug/commands/ui"
	"github.com/pyplug/pyplug/runner"
	"github.com/pyplug/pyplug/runner/bench"
	"github.com/pyplug/pyplug/runner/hook"
)

const benchText = `Call one HOOK of PLUGIN again and again, and tell how long that takes:

   cold       start the plugin, call the hook, stop it
   warm       call the hook of a plugin that runs, one call after the other
   pipelined  the same with --jobs calls at once
   crash      kill the plugin, and wait until it takes calls again

   A functions file gets --jobs calls at once (--concurrency), where its manifest does not say how many.

   One start and call more come first, for what is wrong with them. Each phase has at most --limit of time, warm and pipelined --rounds calls, and the others, which start
   processes, a hundredth of that. What the plugin prints is not shown. A call that fails ends it.

   The median (P50) is what a caller meets, P99 one call in a hundred. Times on a busy machine say
   more beside each other than by themselves.

   pyplug bench greeter.py greet World
   pyplug bench --skip cold,crash --workers 2 greeter.py greet World
   pyplug bench --json greeter.py add a=2 b=40`

// benchOptions are what the command line of bench says.
type benchOptions struct {
	runOptions
	measure bench.Options
}

func benchCommand(f *program) command {
	flags := []cli.Flag{
		&cli.IntFlag{Name: "rounds", Usage: "at most `N` calls in a phase (default: 10000)"},
		durationFlag("limit", "how `LONG` a phase may take (default: 3s)"),
		&cli.IntFlag{Name: "jobs", Usage: "`N` calls at once in the phase pipelined (default: 64)"},
		&cli.StringFlag{Name: "skip", Usage: "leave `PHASES` out: " + strings.Join(bench.Names(), ",")},
		durationFlag("timeout", "how `LONG` one call may take, 0 for no limit (default: 2m)", "PYPLUG_TIMEOUT"),
		&cli.StringFlag{Name: "input", Usage: "read all arguments from `FILE`, - for standard input"},
	}
	flags = slices.Concat(flags, resultFlags(), keepFlags(), pluginFlags("10m"), outputFlags())
	return command{names: 2, Command: &cli.Command{
		Name:        "bench",
		Usage:       "measure how long a plugin's start, calls and restart take",
		ArgsUsage:   "PLUGIN HOOK [ARG...]",
		Description: benchText,
		Flags:       flags,
		Action: func(c *cli.Context) error {
			if err := f.begin(c); err != nil {
				return err
			}
			o, err := f.readBench(c)
			if err != nil {
				return err
			}
			return f.bench(c.Context, o)
		},
	}}
}

// readBench reads the command line of bench.
func (f *program) readBench(c *cli.Context) (benchOptions, error) {
	var o benchOptions
	var err error
	if o.runOptions, err = f.readRun(c); err != nil {
		return o, err
	}
	o.measure = bench.Options{Rounds: c.Int("rounds"), Limit: durationOf(c, "limit"), Jobs: c.Int("jobs")}
	for _, name := range []string{"rounds", "jobs"} {
		if c.IsSet(name) && c.Int(name) < 1 {
			return o, usage("--%s is %d, want 1 or more", name, c.Int(name))
		}
	}
	if c.IsSet("skip") {
		o.measure.Skip = strings.Split(c.String("skip"), ",")
	}
	for _, name := range o.measure.Skip {
		if !slices.Contains(bench.Names(), name) {
			return o, usage("--skip has the phase %q, want some of %s", name, strings.Join(bench.Names(), ","))
		}
	}
	if err := readKeep(c, &o.cfg); err != nil {
		return o, err
	}
	jobs := o.measure.Concurrent()
	o.cfg.Keep.DefaultConcurrency = min(jobs, runner.MaxConcurrency)
	if o.cfg.Keep.Queue == 0 {
		o.cfg.Keep.Queue = max(jobs, runner.DefaultQueue)
	}
	return o, nil
}

// bench measures a plugin and prints what came of it.
func (f *program) bench(ctx context.Context, o benchOptions) error {
	f.opts.quiet = true
	t := &benchTarget{f: f, o: o}
	defer t.close()
	if err := t.try(ctx); err != nil {
		return err
	}
	measured := ui.Benched{Plugin: o.cfg.Plugin, Hook: o.call.Hook, Transport: t.settings.Transport, Python: pythonVersion(f.session)}
	stop := func() {}
	err := bench.Measure(ctx, t, o.measure, func(name string) {
		if name != bench.Cold {
			t.keep(ctx)
		}
		stop = f.streams.Waiting("measuring " + name)
	}, func(p bench.Phase) {
		stop()
		measured.Phases = append(measured.Phases, benchPhase(p, o.measure))
	})
	stop()
	if err != nil {
		return err
	}
	return f.write(ctx, func() error { return f.streams.Bench(measured, f.opts.json) })
}

// benchPhase is a phase as it is printed.
func benchPhase(p bench.Phase, o bench.Options) ui.BenchPhase {
	shown := ui.BenchPhase{
		Name: p.Name, Rounds: len(p.Times), Jobs: 1,
		Min: p.Percentile(0), P50: p.Percentile(50), P90: p.Percentile(90), P99: p.Percentile(99), Max: p.Percentile(100),
		PerSecond: p.PerSecond(),
	}
	if p.Name == bench.Pipelined {
		shown.Jobs = o.Concurrent()
	}
	return shown
}

// benchTarget is a plugin for bench. It is kept only after the phase cold, beside
// whose plugins one that listens at a fixed port could not be.
type benchTarget struct {
	f        *program
	o        benchOptions
	settings runner.Settings
	kept     *runner.Kept // nil until keep
	err      error        // of keep
}

// try makes the call once: what is wrong with it is told before it is made a
// thousand times.
func (t *benchTarget) try(ctx context.Context) error {
	s, err := t.f.open(ctx, t.o.cfg, func(s *runner.Session) error {
		t.settings = s.Settings()
		if err := t.f.readInput(ctx, t.settings.Transport, &t.o.callOptions); err != nil {
			return err
		}
		if t.o.stream != nil {
			return usage("--input of %s is a stream, which is read once: want a hook that takes one message", t.o.call.Hook)
		}
		return nil
	})
	if err != nil {
		return err
	}
	defer t.f.closeSession(s)
	return t.within(ctx, s)
}

// keep starts what Call and Crash are about, once.
func (t *benchTarget) keep(ctx context.Context) {
	if t.kept == nil && t.err == nil {
		t.f.finish() // the output of the one before
		t.kept, t.err = t.f.keep(ctx, t.o.cfg, nil)
	}
}

// close stops it.
func (t *benchTarget) close() {
	if t.kept != nil {
		t.f.closeKept(t.kept)
	}
}

// Cold makes one call as `run` does.
func (t *benchTarget) Cold(ctx context.Context) error {
	s, err := runner.Open(ctx, t.o.cfg)
	if err != nil {
		return err
	}
	err = t.within(ctx, s)
	if closeErr := s.Close(ctx); err == nil && closeErr != nil {
		err = asError(closeErr)
	}
	return err
}

// Call makes one call of the plugin that is kept.
func (t *benchTarget) Call(ctx context.Context) error {
	if t.err != nil {
		return t.err
	}
	return t.within(ctx, t.kept)
}

// within makes the call within its limit. Items of a stream are let go.
func (t *benchTarget) within(ctx context.Context, caller hook.Caller) error {
	ctx, cancel := context.WithTimeout(ctx, t.settings.Timeouts.Call)
	defer cancel()
	c := t.o.call
	c.Emit = func(hook.Item) error { return nil }
	_, err := caller.Call(ctx, c)
	return err
}

// Crash kills the worker, and waits for the next.
func (t *benchTarget) Crash(ctx context.Context) error {
	if t.err != nil {
		return t.err
	}
	ctx, cancel := context.WithTimeout(ctx, t.limit())
	defer cancel()
	return t.kept.Recover(ctx)
}

// limit is how long a start may take, and a little more.
func (t *benchTarget) limit() time.Duration { return t.settings.Timeouts.Start + runner.DefaultStop }
