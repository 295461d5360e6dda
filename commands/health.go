package commands

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/pyplug/pyplug/runner"
	"github.com/pyplug/pyplug/runner/daemon"
	"github.com/pyplug/pyplug/runner/hook"
)

// watchEvery is how often --watch probes.
const watchEvery = time.Second

func healthCommand(prog *program) command {
	var cfg runner.Config
	var at addressOptions
	var watch, all bool
	flags := []cli.Flag{
		alias(durationFlag(&cfg.Timeouts.Probe, "timeout", "wait for the answer for `DURATION`, 0 for no limit (default: 2s)"), "rpc-timeout"),
		switchFlag(&watch, "watch", "print a line for each change, until Ctrl-C"),
		switchFlag(&all, "all", "probe all background plugins"),
		switchFlag(&prog.probeCodes, "probe-codes", "exit with the codes of grpc-health-probe"),
		alias(headerFlag(&cfg.GRPC.Metadata), "rpc-header"),
	}
	ofAddress, ofPlugin := at.flags(&cfg.GRPC), pluginFlags(&cfg, "60s")
	return newCommand("health", "probe the health of a plugin or a gRPC server", "NAME|PLUGIN... | --all | --address ADDRESS",
		slices.Concat(flags, ofAddress, ofPlugin, prog.opts.flags()), func(ctx context.Context, words []string) error {
			given, err := at.isGiven(ofAddress, ofPlugin, "service")
			switch {
			case err != nil:
			case given:
				err = prog.healthOfAddress(ctx, words, &at, cfg, watch)
			case watch:
				if err = onePlugin(words, &cfg); err == nil {
					err = prog.healthOfPlugin(ctx, cfg, ofPlugin, false, true)
				}
			default:
				if words, err = readNames(words, all); err == nil {
					err = prog.healthOf(ctx, words, cfg, ofPlugin)
				}
			}
			if watch {
				return prog.untilSignal(err)
			}
			return err
		})
}

// healthOf probes the plugins that words name, or all background plugins, at once.
func (prog *program) healthOf(ctx context.Context, words []string, cfg runner.Config, ofPlugin []cli.Flag) error {
	words, err := prog.orAll(ctx, words)
	if err != nil {
		return err
	}
	return prog.firstOf(each(words, func(_ int, word string) error {
		cfg := cfg
		if err := openConfig(&cfg, word); err != nil {
			return err
		}
		return prog.healthOfPlugin(ctx, cfg, ofPlugin, len(words) > 1, false)
	}))
}

// healthOfPlugin probes a plugin, which it starts unless it runs in the background. among says
// that there are others.
func (prog *program) healthOfPlugin(ctx context.Context, cfg runner.Config, ofPlugin []cli.Flag, among, watch bool) error {
	cfg.DefaultStart, cfg.GRPC.AnyHealth = quickImport, watch
	p, err := prog.connectOrStart(ctx, cfg, ofPlugin)
	if err != nil {
		return unanswered(err)
	}
	defer p.close()
	limit := cmp.Or(cfg.Timeouts.Probe, runner.DefaultProbe)
	if p.opened != nil {
		limit = p.opened.Settings().Timeouts.Probe
	}
	probe := func() error {
		ctx, cancel := hook.WithLimit(ctx, limit)
		defer cancel()
		return p.running().Health(ctx)
	}
	if watch {
		return p.failed(p.watchHealth(ctx, probe))
	}
	name := ""
	if among {
		name = p.path
	}
	return p.failed(p.health(ctx, name, probe))
}

// health probes once, and prints that the plugin is healthy, by its name if that is not empty.
// The error is why it is not healthy.
func (p *plugin) health(ctx context.Context, name string, probe func() error) error {
	began := time.Now()
	if err := probe(); err != nil {
		return err
	}
	took := time.Since(began)
	info, _ := p.process(ctx)
	return p.prog.write(ctx, func() error { return p.prog.streams.Healthy(name, took, info, p.prog.opts.json) })
}

// unanswered turns the error of a start into a timeout if the health service did not
// answer, because that answer is what the command asks for.
func unanswered(err error) error {
	e := *asError(err)
	if limit := (*hook.LimitError)(nil); e.Kind != hook.Unhealthy || !errors.As(err, &limit) {
		return err
	}
	e.Kind, e.Hints = hook.Timeout, hook.TimeoutHints
	return pluginOf(err).failed(&e)
}

// watchHealth prints a line for each change of a plugin's health, until the plugin or ctx
// ends.
func (p *plugin) watchHealth(ctx context.Context, probe func() error) error {
	prog := p.prog
	var exited <-chan struct{} // nil if a daemon runs the plugin
	if p.pool != nil {
		exited = p.pool.Failed()
	}
	for last := "not probed yet"; ; {
		found := probe()
		select {
		case <-ctx.Done():
			return hook.NewError(hook.Canceled, context.Cause(ctx))
		case <-exited:
			status, _ := p.pool.Status(context.Background())
			return &hook.Error{Kind: hook.Crash, Exit: status.LastExit, Err: errors.New("the plugin exited")}
		default:
		}
		if daemon.Is(found, daemon.Lost) || isNotRunning(found) {
			return daemon.NotRunningError(p.client.Identity().Name)
		}
		if now := fmt.Sprint(found); now != last {
			if err := prog.write(ctx, func() error { return prog.streams.Health(hook.AsError(found), prog.opts.json) }); err != nil {
				return err
			}
			last = now
		}
		select {
		case <-ctx.Done():
		case <-exited:
		case <-time.After(watchEvery):
		}
	}
}
