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
	"github.com/pyplug/pyplug/runner/schema"
)

const statusText = `Show the plugins that run in the background, or one of them. It does not wait for calls.

   STATE is starting, ready, degraded (takes calls, and says that it is not healthy), backoff (it
   ended, and is started again after a delay), stopping, failed (it is not started again until its
   files change, or by restart), or unknown (pyplug itself does not answer within 2 seconds there).

   --watch shows it again and again: on a terminal the table, else a line for each change.

   pyplug status
   pyplug status greeter
   pyplug status --json | jq -r '.plugins[] | select(.state != "ready") | .name'`

// statusEvery is how often --watch looks.
const statusEvery = 500 * time.Millisecond

func statusCommand(f *program) command {
	var watch bool
	return command{names: allWords, Command: &cli.Command{
		Name:        "status",
		Usage:       "show what runs in the background",
		ArgsUsage:   "[NAME]",
		Description: statusText,
		Flags:       append([]cli.Flag{switchFlag(&watch, "watch", "print every change, until Ctrl-C")}, f.opts.flags()...),
		Action: func(c *cli.Context) error {
			words := c.Args().Slice()
			if len(words) > 1 {
				return usage("%s is one word too many, want one NAME or none", schema.QuoteLine(words[1:2]))
			}
			if watch {
				f.endless = true
				return f.watchStatus(c.Context, words)
			}
			return f.status(c.Context, words)
		},
	}}
}

// status shows the plugin that words name, or all.
func (f *program) status(ctx context.Context, words []string) error {
	all, err := f.backgrounds(ctx, words)
	if err != nil {
		return err
	}
	if len(all) == 0 {
		f.streams.Note("no plugin runs in the background")
	}
	return f.write(ctx, func() error { return f.streams.Statuses(all, f.opts.json) })
}

// backgrounds asks the plugin that words name, or all, how they are.
func (f *program) backgrounds(ctx context.Context, words []string) ([]ui.Background, error) {
	if len(words) == 1 {
		t, err := f.running(ctx, words[0])
		if err != nil {
			return nil, err
		}
		if t.unresponsive != nil {
			return []ui.Background{unasked(t.name, t.id, t.unresponsive.Error())}, nil
		}
		return askAll(ctx, []daemon.Entry{{Name: t.name, Identity: t.id}}), nil
	}
	entries, err := daemon.List(ctx)
	if err != nil && len(entries) == 0 {
		return nil, err
	}
	if err != nil {
		f.streams.Warn(err.Error())
	}
	return askAll(ctx, entries), ctx.Err()
}

// askAll asks all of them at once, each within the limit. One that ended meanwhile
// is left out.
func askAll(ctx context.Context, entries []daemon.Entry) []ui.Background {
	ctx, cancel := context.WithTimeout(ctx, daemon.StatusLimit)
	defer cancel()
	found := make([]*ui.Background, len(entries))
	var work sync.WaitGroup
	for i, e := range entries {
		work.Go(func() { found[i] = askOne(ctx, e) })
	}
	work.Wait()
	var all []ui.Background
	for _, b := range found {
		if b != nil {
			all = append(all, *b)
		}
	}
	return all
}

// askOne asks one daemon for its status. It returns nil if the daemon has ended.
func askOne(ctx context.Context, e daemon.Entry) *ui.Background {
	b := unasked(e.Name, e.Identity, "")
	c, err := daemon.Open(ctx, e.Name)
	if err == nil {
		b.Status, err = c.Status(ctx)
	}
	switch {
	case err == nil:
	case asError(err).Kind == hook.Timeout:
		b.Problem = "did not answer within " + daemon.StatusLimit.String()
		if b.Daemon > 0 {
			b.Problem = fmt.Sprintf("process %d %s", b.Daemon, b.Problem)
		}
	case isNotRunning(err):
		return nil
	default:
		b.Problem = err.Error()
	}
	return &b
}

// unasked is what is known of one without asking it, and why it was not.
func unasked(name string, id daemon.Identity, problem string) ui.Background {
	return ui.Background{
		Name: name, Plugin: id.Entry, Python: id.Python, Socket: id.Socket, Log: id.Log, Daemon: id.PID, Problem: problem,
	}
}

// watchStatus shows it again and again until ctx ends. One that was named and ends
// is shown as stopped, and waited for.
func (f *program) watchStatus(ctx context.Context, words []string) error {
	if _, err := f.backgrounds(ctx, words); err != nil {
		return err
	}
	w := f.streams.WatchStatuses(strings.Join(words, ""), f.opts.json)
	tick := time.NewTicker(statusEvery)
	defer tick.Stop()
	for {
		all, err := f.backgrounds(ctx, words)
		if ctx.Err() != nil {
			return hook.NewError(hook.Canceled, context.Cause(ctx))
		}
		if err != nil && !isNotRunning(err) {
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
