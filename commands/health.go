package commands

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/pyplug/pyplug/runner"
	"github.com/pyplug/pyplug/runner/hook"
)

const healthText = `Start PLUGIN, ask once whether it is healthy, stop. Exit status 0 says yes, 7 no, 124 that it
   did not answer in time. --watch goes on asking, and prints a line for each change. The NAME of a
   plugin that runs in the background has that one asked.

   A functions file is asked through its function health(), if it has one that needs no argument:
   None or True is healthy; False, a text, or a dict whose status is not ok is the reason why not.
   A gRPC plugin is asked through grpc.health.v1.Health, for the service "plugin".

   --address asks a gRPC server that runs already, as grpc-health-probe does; --probe-codes gives that
   program's exit codes: 1 wrong flags, 2 no connection, 3 no answer, 4 not serving.

   pyplug health greeter.py && echo fine
   pyplug health --probe-codes --address localhost:50051`

const (
	// healthImport is how long an import may take: a probe is waited for.
	healthImport = 60 * time.Second
	// watchEvery is how often a plugin is asked that tells nothing by itself.
	watchEvery = time.Second
)

func healthCommand(f *program) command {
	var o pluginOptions
	var at addressOptions
	var watch bool
	timeout := durationFlag(&at.timeout, "timeout", "wait for the answer for `DURATION`, 0 for no limit (default: 2s)")
	timeout.Aliases = []string{"rpc-timeout"}
	flags := []cli.Flag{
		timeout,
		switchFlag(&watch, "watch", "print a line for each change, until Ctrl-C"),
		switchFlag(&f.probeCodes, "probe-codes", "exit with the codes of grpc-health-probe"),
		at.headers.flag("rpc-header"),
	}
	ofAddress, ofPlugin := at.flags(), o.flags("60s")
	return command{names: allWords, Command: &cli.Command{
		Name:        "health",
		Usage:       "ask a plugin, or a gRPC server, whether it is healthy",
		ArgsUsage:   "NAME|PLUGIN | --address ADDRESS",
		Description: healthText,
		Flags:       slices.Concat(flags, ofAddress, ofPlugin, f.opts.flags()),
		Action: func(c *cli.Context) error {
			if at.address != "" {
				at.service = o.grpc.service
				return f.healthOfAddress(c, &at, ofPlugin, watch)
			}
			if name := f.firstTyped(ofAddress); name != "" {
				return usage("%s is for a server that runs already, and --address is not given", name)
			}
			cfg, err := onePlugin(c, &o)
			if err != nil {
				return err
			}
			running, err := f.byName(c, cfg.Plugin, ofPlugin)
			if err != nil {
				return err
			}
			if running != nil {
				return f.healthOf(c.Context, running, at.timeout, watch)
			}
			cfg.Timeouts.Probe, cfg.GRPC.Metadata = at.timeout, at.headers.pairs
			cfg.DefaultStart = healthImport
			return f.health(c.Context, cfg, watch)
		},
	}}
}

// health probes a plugin. An error says why it is not healthy.
func (f *program) health(ctx context.Context, cfg runner.Config, watch bool) error {
	f.endless, cfg.GRPC.AnyHealth, cfg.Once = watch, watch, true
	p, err := f.open(ctx, cfg, nil)
	if err != nil {
		return unanswered(err)
	}
	defer p.close()
	if watch {
		return f.watch(ctx, p)
	}
	began := time.Now()
	if err := p.probe(ctx); err != nil {
		return err
	}
	took := time.Since(began)
	return f.write(ctx, func() error { return f.streams.Healthy(took, p.starts.newest(), f.opts.json) })
}

// unanswered makes a timeout of a health service that did not answer: a start
// fails by it for other commands, but here the answer is what was wanted.
func unanswered(err error) error {
	e := asError(err)
	if limit := (*hook.LimitError)(nil); e.Kind == hook.Unhealthy && errors.As(err, &limit) {
		late := *e
		late.Kind = hook.Timeout
		return &late
	}
	return err
}

// probe asks once, within the limit.
func (p *plugin) probe(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, p.opened.Settings().Timeouts.Probe)
	defer cancel()
	return p.pool.Health(ctx)
}

// watch prints a line for each change of a plugin's health until it ends, or
// pyplug is told to.
func (f *program) watch(ctx context.Context, p *plugin) error {
	ok, err := p.pool.WatchHealth(ctx, func(status string) error { return f.tellStatus(ctx, status) })
	if ok {
		return err
	}
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	last := errors.New("not asked yet")
	for {
		found := p.probe(ctx)
		if err := over(ctx, p.pool); err != nil {
			return err
		}
		if last == nil != (found == nil) || found != nil && last.Error() != found.Error() {
			if err := f.tellHealth(ctx, found); err != nil {
				return err
			}
		}
		last = found
		select {
		case <-ctx.Done():
		case <-p.pool.Failed():
		case <-tick.C:
		}
	}
}

// over says why there is nothing left to watch; nil while there is.
func over(ctx context.Context, p *runner.Pool) error {
	select {
	case <-ctx.Done():
		return hook.NewError(hook.Canceled, context.Cause(ctx))
	case <-p.Failed():
		st, _ := p.Status(ctx) // it never fails
		return &hook.Error{Kind: hook.Crash, Exit: st.LastExit, Err: errors.New("the plugin exited")}
	default:
		return nil
	}
}

// tellStatus prints a status as a server names it.
func (f *program) tellStatus(ctx context.Context, status string) error {
	return f.write(ctx, func() error { return f.streams.Health(status, nil, f.opts.json) })
}

// tellHealth prints what a probe found.
func (f *program) tellHealth(ctx context.Context, found error) error {
	var e *hook.Error
	if found != nil {
		e = asError(found)
	}
	return f.write(ctx, func() error { return f.streams.Health("", e, f.opts.json) })
}
