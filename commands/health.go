package commands

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/pyplug/pyplug/commands/cmdline"
	"github.com/pyplug/pyplug/runner/daemon"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/plan"
	"github.com/pyplug/pyplug/runner/settings"
)

// watchEvery is the interval of probes with --watch.
const watchEvery = time.Second

func healthCommand(prog *program) command {
	cfg := plan.Config{Defaults: quickStart}
	var watch, all bool
	flags := cmdline.Flags{
		probeFlag(&cfg),
		cmdline.Switch(&watch, "watch", "print a line for each change, until Ctrl-C"),
		cmdline.Switch(&all, "all", "probe all background plugins"),
		settingFlag(&cfg, settings.ByFlag("header")),
	}
	ofPlugin := pluginFlags(&cfg)
	return newCommand("health", "probe the health of a plugin", "NAME|PLUGIN... | --all",
		slices.Concat(flags, ofPlugin, prog.opts.flags()), func(ctx context.Context, words []string) error {
			var err error
			if watch {
				err = cmdline.WantWords(words, "PLUGIN")
			} else {
				words, err = prog.names(ctx, words, all)
			}
			if err != nil {
				return err
			}
			cfg.AnyHealth = watch
			err = prog.firstOf(each(words, func(_ int, word string) error {
				return prog.health(ctx, word, len(words) > 1, cfg, ofPlugin, watch)
			})...)
			if watch {
				return prog.untilSignal(err)
			}
			return err
		})
}

// probeFlag returns --timeout, the timeout of a probe.
func probeFlag(cfg *plan.Config) *cmdline.Flag {
	row := *settings.ByKey("timeouts.probe")
	row.Flag, row.Help = "timeout", "wait for the answer for `DURATION`"
	return settingFlag(cfg, &row)
}

// health probes a plugin. It starts the plugin unless it runs in the background. It prints that the
// plugin is healthy, with its name if among is set. The error says why the plugin is not healthy.
func (prog *program) health(ctx context.Context, word string, among bool, cfg plan.Config, ofPlugin cmdline.Flags, watch bool) error {
	p, err := prog.reach(ctx, word, cfg, ofPlugin)
	if err != nil {
		return unanswered(err)
	}
	defer p.close()
	probe := func() error {
		ctx, cancel := hook.WithLimit(ctx, p.timeouts(cfg.Timeouts).Probe)
		defer cancel()
		return p.Health(ctx)
	}
	if watch {
		return failed(p, prog.watchHealth(ctx, p, probe))
	}
	began := time.Now()
	if err := probe(); err != nil {
		return failed(p, err)
	}
	took, name := time.Since(began), ""
	if among {
		name = p.typed()
	}
	info, _ := p.process(ctx)
	return failed(p, prog.write(ctx, func() error { return prog.streams.Healthy(name, took, info, prog.opts.json) }))
}

// unanswered converts the error of a start to a timeout if the health service did not answer,
// because that answer is the purpose of the command.
func unanswered(err error) error {
	e := *hook.AsError(err)
	if limit := (*hook.LimitError)(nil); e.Kind != hook.Unhealthy || !errors.As(err, &limit) {
		return err
	}
	e.Kind, e.Hints = hook.Timeout, hook.TimeoutHints
	return failed(pluginOf(err), &e)
}

// watchHealth prints a line for each change of a plugin's health, until the plugin or ctx
// ends.
func (prog *program) watchHealth(ctx context.Context, p plugin, probe func() error) error {
	var exited <-chan struct{} // nil if a daemon runs the plugin
	if own, ok := p.(*local); ok {
		exited = own.Failed()
	}
	for last := "not probed yet"; ; {
		found := probe()
		select {
		case <-ctx.Done():
			return hook.NewError(hook.Canceled, context.Cause(ctx))
		case <-exited:
			status, _ := p.Status(context.Background())
			return &hook.Error{Kind: hook.Crash, Exit: status.LastExit, Err: errors.New("the plugin exited")}
		default:
		}
		if of, ok := p.(*background); ok && (daemon.Is(found, daemon.Lost) || isNotRunning(found)) {
			return daemon.NotRunningError(of.Identity().Name)
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
