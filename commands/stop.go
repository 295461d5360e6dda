package commands

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/urfave/cli/v2"

	"github.com/pyplug/pyplug/runner/daemon"
	"github.com/pyplug/pyplug/runner/manifest"
	"github.com/pyplug/pyplug/runner/schema"
	"github.com/pyplug/pyplug/runner/service"
)

func stopCommand(f *program) command {
	var all bool
	return command{names: allWords, Command: &cli.Command{
		Name:      "stop",
		Usage:     "stop background plugins",
		ArgsUsage: "NAME... | --all",
		Flags:     append([]cli.Flag{switchFlag(&all, "all", "stop all background plugins")}, f.opts.flags()...),
		Action: func(c *cli.Context) error {
			words := c.Args().Slice()
			switch {
			case all && len(words) > 0:
				return usage("--all takes no NAME, but %s is given", words[0])
			case !all && len(words) == 0:
				return usage("NAME is missing, or --all")
			}
			return f.stop(c.Context, words)
		},
	}}
}

// stop stops the plugins that words name, or all, at once. It returns the first error, and
// warns about the others.
func (f *program) stop(ctx context.Context, words []string) error {
	names, failures := f.toStop(ctx, words)
	waiting := f.streams.Waiting("stopping")
	errs, ran := make([]error, len(names)), make([]bool, len(names))
	var work sync.WaitGroup
	for i, name := range names {
		work.Go(func() {
			f.streams.Log("info", "stopping", "name", name)
			ran[i], errs[i] = daemon.Stop(ctx, name) // an interrupt kills the plugin, and is waited for
		})
	}
	work.Wait()
	waiting()
	var stopped []string
	for i, name := range names {
		switch {
		case errs[i] != nil:
			failures = append(failures, errs[i])
		case ran[i]:
			stopped = append(stopped, name)
		}
	}
	if f.opts.json && (len(stopped) > 0 || len(failures) == 0) {
		if err := f.write(ctx, func() error { return f.streams.Stopped(stopped) }); err != nil {
			failures = append(failures, err)
		}
	}
	if len(failures) == 0 {
		return nil
	}
	for _, err := range failures[1:] {
		f.streams.Warn(err.Error())
	}
	return failures[0]
}

// toStop returns the names that words stand for, or all names, and the errors in the words. A
// word without a running plugin is only a note.
func (f *program) toStop(ctx context.Context, words []string) (names []string, failures []error) {
	if len(words) == 0 {
		entries, err := f.list(ctx)
		if err != nil {
			failures = append(failures, err)
		}
		return service.Names(entries), failures
	}
	for _, word := range words {
		e, err := service.Find(ctx, word)
		noPlugin := (*manifest.Error)(nil)
		switch {
		case isNotRunning(err) && !daemon.ValidName(word):
			failures = append(failures, usage("%s is not a name, want lower case letters, digits, - and _", schema.QuoteLine([]string{word})))
		case isNotRunning(err), err == nil && e.Name == "", errors.As(err, &noPlugin):
			f.streams.Note(word + " is not running")
			if daemon.ValidName(word) {
				_, _ = daemon.Stop(ctx, word) // removes the log of a killed daemon
			}
		case err != nil:
			failures = append(failures, err)
		case !slices.Contains(names, e.Name):
			names = append(names, e.Name)
		}
	}
	return names, failures
}

func restartCommand(f *program) command {
	return command{names: allWords, Command: &cli.Command{
		Name:      "restart",
		Usage:     "restart the workers of a background plugin",
		ArgsUsage: "NAME",
		Flags:     f.opts.flags(),
		Action: func(c *cli.Context) error {
			name, err := oneWord(c, "NAME")
			if err != nil {
				return err
			}
			return f.restart(c.Context, name)
		},
	}}
}

// restart replaces the workers of a plugin.
func (f *program) restart(ctx context.Context, word string) error {
	p, err := f.connect(ctx, word)
	if err != nil {
		return err
	}
	stop := f.streams.Waiting("restarting " + word)
	err = p.client.Restart(ctx, "restarted by pyplug restart")
	stop()
	if err != nil {
		return p.failed(err)
	}
	if _, notes, err := p.client.Ready(ctx); err == nil {
		for _, note := range notes {
			f.streams.Note(note)
		}
	}
	if !f.opts.json {
		return nil
	}
	return f.status(ctx, []string{p.client.Identity().Name})
}
