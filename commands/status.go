package commands

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/pyplug/pyplug/commands/cmdline"
	"github.com/pyplug/pyplug/commands/ui"
	"github.com/pyplug/pyplug/runner/daemon"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/service"
)

// statusEvery is the interval of requests with --watch.
const statusEvery = 500 * time.Millisecond

func statusCommand(prog *program) command {
	var watch, metrics, stacks bool
	cmd := newCommand("status", "show the background plugins and their state", "[NAME...]",
		append(cmdline.Flags{cmdline.Switch(&watch, "watch", "print every change, until Ctrl-C"),
			cmdline.Switch(&stacks, "stacks", "show where in Python the running calls are (Linux)"),
			cmdline.Switch(&metrics, "metrics", "print metrics in the text format of Prometheus")}, prog.opts.flags()...), func(ctx context.Context, words []string) error {
			if metrics && (watch || prog.opts.json) {
				return cmdline.Usage("--metrics cannot be combined with --json or --watch")
			}
			if watch {
				if err := cmdline.WantWords(words, "[NAME]"); err != nil {
					return err
				}
				return prog.untilSignal(prog.watchStatus(ctx, words))
			}
			if stacks && !prog.opts.json && len(words) != 1 {
				return cmdline.Usage("--stacks applies only with NAME or --json")
			}
			return prog.status(ctx, words, statusView{metrics, stacks})
		})
	cmd.Aliases = []string{"ps", "ls"}
	return cmd
}

// statusView says how a status is printed.
type statusView struct {
	metrics bool // as metrics instead of a table or JSON
	stacks  bool // with the stacks of the running calls
}

// status prints the status of the plugins that words name, or of all plugins. If one plugin is
// named, it also prints the details.
func (prog *program) status(ctx context.Context, words []string, view statusView) error {
	all, failed := prog.statuses(ctx, words, view.stacks)
	if failed != nil && len(all) == 0 {
		return failed
	}
	if err := daemon.Skipped(); err != nil {
		prog.streams.Note("skipped: " + err.Error())
	}
	if len(all) == 0 {
		prog.streams.Note("no background plugins are running")
	}
	err := prog.write(ctx, func() error {
		if view.metrics {
			return prog.streams.Metrics(all)
		}
		err := prog.streams.Statuses(all, prog.opts.json)
		if err == nil && !prog.opts.json && len(words) == 1 && len(all) == 1 {
			err = prog.streams.Details(all[0])
		}
		return err
	})
	if err != nil {
		return err
	}
	return failed
}

// statuses requests the status of the plugins that words name, or of all plugins, concurrently. It
// omits a daemon that ended meanwhile. If a directory cannot be read, it returns the error together
// with the plugins of the other directories.
func (prog *program) statuses(ctx context.Context, words []string, stacks bool) ([]ui.Background, error) {
	entries, err := service.FindAll(ctx, words)
	limit, cancel := hook.WithLimit(ctx, daemon.StatusLimit)
	defer cancel()
	all := make([]ui.Background, len(entries))
	each(entries, func(i int, e daemon.Identity) error {
		all[i] = statusOf(limit, e, stacks)
		return nil
	})
	return slices.DeleteFunc(all, func(b ui.Background) bool { return b.Name == "" }), cmp.Or(err, ctx.Err())
}

// statusOf requests the status of one daemon. It returns the zero value if the daemon has ended.
func statusOf(ctx context.Context, id daemon.Identity, stacks bool) ui.Background {
	b := ui.Background{Name: id.Name, Plugin: id.Entry, State: "unknown", Python: id.Python, Socket: id.Socket, Log: id.Log, Daemon: id.PID, Version: id.Version}
	c, err := daemon.Open(ctx, id.Name)
	var st hook.Status
	switch {
	case err == nil && stacks:
		st, err = c.Stacks(ctx)
	case err == nil:
		st, err = c.Status(ctx)
	}
	switch {
	case err == nil:
		if id.Version != "" && id.Version != versionText() && st.Note == "" {
			st.Note = "runs in pyplug " + id.Version
		}
		st.Concurrency, st.Since, st.Attach = 0, time.Time{}, nil // these fields are only for programs that use the socket
		b.State, b.Status = st.State, &st
	case isNotRunning(err):
		return ui.Background{}
	case hook.AsError(err).Kind == hook.Timeout:
		b.Problem = fmt.Sprintf("process %d did not respond within %s", b.Daemon, daemon.StatusLimit)
	default:
		b.Problem = err.Error()
	}
	return b
}

// watchStatus prints the status repeatedly until ctx ends. It shows a named plugin that has ended
// as stopped, and waits for its next start.
func (prog *program) watchStatus(ctx context.Context, words []string) error {
	w := prog.streams.WatchStatuses(prog.opts.json)
	for first := true; ; first = false {
		all, err := prog.statuses(ctx, words, false)
		switch {
		case ctx.Err() != nil:
			return hook.NewError(hook.Canceled, context.Cause(ctx))
		case err != nil && (first || !isNotRunning(err)):
			return err
		}
		if err := prog.write(ctx, func() error { return w.Show(all) }); err != nil {
			return err
		}
		hook.Within(ctx.Done(), statusEvery)
	}
}
