package commands

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/pyplug/pyplug/commands/ui"
	"github.com/pyplug/pyplug/runner/daemon"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/service"
)

// statusEvery is the time between two requests of --watch.
const statusEvery = 500 * time.Millisecond

func statusCommand(f *program) command {
	var watch bool
	return command{names: allWords, Command: &cli.Command{
		Name:      "status",
		Aliases:   []string{"ps"},
		Usage:     "show the background plugins and their state",
		ArgsUsage: "[NAME]",
		Flags:     append([]cli.Flag{switchFlag(&watch, "watch", "print every change, until Ctrl-C")}, f.opts.flags()...),
		Action: func(c *cli.Context) error {
			words := c.Args().Slice()
			if err := atMost(words, 1); err != nil {
				return err
			}
			if watch {
				return f.untilSignal(f.watchStatus(c.Context, words))
			}
			return f.status(c.Context, words)
		},
	}}
}

// status prints the status of the plugin that words name, or of all.
func (f *program) status(ctx context.Context, words []string) error {
	all, err := f.statuses(ctx, words)
	if err != nil {
		return err
	}
	if err := daemon.Skipped(); err != nil {
		f.streams.Note("skipped: " + err.Error())
	}
	if len(all) == 0 {
		f.streams.Note("no background plugins are running")
	}
	return f.write(ctx, func() error { return f.streams.Statuses(all, f.opts.json) })
}

// statuses requests the status of the plugin that words name, or of all at once. It leaves out
// a daemon that ended meanwhile.
func (f *program) statuses(ctx context.Context, words []string) ([]ui.Background, error) {
	var entries []daemon.Identity
	var err error
	if len(words) == 0 {
		entries, err = f.list(ctx)
	} else {
		entries = make([]daemon.Identity, 1)
		entries[0], err = service.FindRunning(ctx, words[0])
	}
	if err != nil {
		return nil, err
	}
	limit, cancel := hook.WithLimit(ctx, daemon.StatusLimit)
	defer cancel()
	found := make([]*ui.Background, len(entries))
	var work sync.WaitGroup
	for i, e := range entries {
		work.Go(func() { found[i] = statusOf(limit, e) })
	}
	work.Wait()
	var all []ui.Background
	for _, b := range found {
		if b != nil {
			all = append(all, *b)
		}
	}
	return all, ctx.Err()
}

// list lists the background plugins. It warns about a directory that cannot be read, unless
// that is the only one.
func (f *program) list(ctx context.Context) ([]daemon.Identity, error) {
	entries, err := daemon.List(ctx)
	if err != nil && len(entries) > 0 {
		f.streams.Warn(err.Error())
		err = nil
	}
	return entries, err
}

// statusOf requests the status of one daemon. It returns nil if the daemon has ended.
func statusOf(ctx context.Context, id daemon.Identity) *ui.Background {
	b := &ui.Background{Name: id.Name, Plugin: id.Entry, Python: id.Python, Socket: id.Socket, Log: id.Log, Daemon: id.PID}
	c, err := daemon.Open(ctx, id.Name)
	if err == nil {
		b.Status, err = c.Status(ctx)
	}
	switch {
	case err == nil:
	case isNotRunning(err):
		return nil
	case asError(err).Kind != hook.Timeout:
		b.Problem = err.Error()
	case b.Daemon > 0:
		b.Problem = fmt.Sprintf("process %d did not respond within %s", b.Daemon, daemon.StatusLimit)
	default:
		b.Problem = "did not respond within " + daemon.StatusLimit.String()
	}
	return b
}

// watchStatus prints the status again and again until ctx ends. It shows a named plugin
// that ends as stopped, and waits for its next start.
func (f *program) watchStatus(ctx context.Context, words []string) error {
	w := f.streams.WatchStatuses(strings.Join(words, ""), f.opts.json)
	tick := time.NewTicker(statusEvery)
	defer tick.Stop()
	for first := true; ; first = false {
		all, err := f.statuses(ctx, words)
		switch {
		case ctx.Err() != nil:
			return hook.NewError(hook.Canceled, context.Cause(ctx))
		case err != nil && (first || !isNotRunning(err)):
			return err
		}
		if err := f.write(ctx, func() error { return w.Show(all) }); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
		case <-tick.C:
		}
	}
}
