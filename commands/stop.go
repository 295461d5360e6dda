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
)

const stopText = `Stop plugins that run in the background. It returns when all that belongs to them is gone. Calls
   that run have 5 seconds to come to their end; Ctrl-C has the plugin killed.

   To stop what does not run is success.

   pyplug stop greeter
   pyplug stop --all`

const restartText = `Start new workers of a plugin that runs in the background in the place of its old ones, with its
   files as they are now. Each new one is ready before an old one goes. If they do not start, the old
   ones stay, and the error is that of the start.

   Flags and the Python stay those of start: to change these, stop it and start it again.

   pyplug restart greeter`

func stopCommand(f *program) command {
	var all bool
	return command{names: allWords, Command: &cli.Command{
		Name:        "stop",
		Usage:       "stop plugins that run in the background",
		ArgsUsage:   "NAME... | --all",
		Description: stopText,
		Flags:       append([]cli.Flag{switchFlag(&all, "all", "stop all of them")}, f.opts.flags()...),
		Action: func(c *cli.Context) error {
			words := c.Args().Slice()
			switch {
			case all && len(words) > 0:
				return usage("--all stops all of them, and %s is named: want one of both", words[0])
			case !all && len(words) == 0:
				return usage("NAME is missing, or --all")
			}
			return f.stop(c.Context, words)
		},
	}}
}

// stop stops the plugins that words name, or all, all at once. What cannot be stopped
// does not keep the others from it.
func (f *program) stop(ctx context.Context, words []string) error {
	names, err := f.toStop(ctx, words)
	waiting := f.streams.Waiting("stopping")
	errs, stopped := make([]error, len(names)), make([]bool, len(names))
	var work sync.WaitGroup
	for i, name := range names {
		work.Go(func() { stopped[i], errs[i] = f.stopOne(ctx, name) })
	}
	work.Wait()
	waiting()
	var gone []string
	for i, name := range names {
		if stopped[i] && errs[i] == nil {
			gone = append(gone, name)
		}
	}
	for _, failed := range errs {
		switch {
		case err == nil:
			err = failed
		case failed != nil: // the first one is the error
			f.streams.Warn(failed.Error())
		}
	}
	if !f.opts.json || err != nil && len(gone) == 0 {
		return err
	}
	if failed := f.write(ctx, func() error { return f.streams.Stopped(gone) }); err == nil {
		err = failed
	}
	return err
}

// toStop are the names that words stand for, and what is wrong with the first that
// stands for none. A word that nothing runs under is noted, and no error.
func (f *program) toStop(ctx context.Context, words []string) ([]string, error) {
	if len(words) == 0 {
		entries, err := daemon.List(ctx)
		if err != nil && len(entries) > 0 {
			f.streams.Warn(err.Error())
			err = nil
		}
		return namesIn(entries), err
	}
	var names []string
	var first error
	for _, word := range words {
		t, err := f.find(ctx, word)
		if isNotRunning(err) && !daemon.ValidName(word) {
			err = usage("%s is no name, want lower case letters, digits, - and _", schema.QuoteLine([]string{word}))
		}
		none := (*manifest.Error)(nil)
		switch {
		case isNotRunning(err), err == nil && t.name == "", errors.As(err, &none):
			f.streams.Note(word + " is not running")
			if daemon.ValidName(word) {
				_, _ = daemon.Stop(ctx, word) // the log of one that was killed goes
			}
		case err == nil:
			if !slices.Contains(names, t.name) {
				names = append(names, t.name)
			}
		case first == nil:
			first = err
		default:
			f.streams.Warn(err.Error())
		}
	}
	return names, first
}

// stopOne stops one, and tells whether it ran. It returns when the tree is gone; an
// interrupt has the plugin killed, and is waited for as well.
func (f *program) stopOne(ctx context.Context, name string) (ran bool, err error) {
	f.streams.Log("info", "stopping", "name", name)
	ran, err = daemon.Stop(ctx, name)
	if isNotRunning(err) {
		err = nil
	}
	return ran, err
}

func restartCommand(f *program) command {
	return command{names: allWords, Command: &cli.Command{
		Name:        "restart",
		Usage:       "replace the workers of a plugin that runs in the background",
		ArgsUsage:   "NAME",
		Description: restartText,
		Flags:       f.opts.flags(),
		Action: func(c *cli.Context) error {
			name, err := oneName(c)
			if err != nil {
				return err
			}
			return f.restart(c.Context, name)
		},
	}}
}

// oneName reads the command line of a command that takes one NAME.
func oneName(c *cli.Context) (string, error) {
	switch words := c.Args().Slice(); len(words) {
	case 0:
		return "", usage("NAME is missing")
	case 1:
		return words[0], nil
	default:
		return "", usage("%s is one word too many, want one NAME", words[1])
	}
}

// restart replaces the workers of a plugin.
func (f *program) restart(ctx context.Context, word string) error {
	f.plugin = &plugin{f: f, path: word}
	c, err := f.connect(ctx, word)
	if err != nil {
		return err
	}
	stop := f.streams.Waiting("restarting " + word)
	defer stop()
	if err := c.Restart(ctx, "restarted by pyplug restart"); err != nil {
		return err
	}
	stop()
	if !f.opts.json {
		return nil
	}
	return f.status(ctx, []string{c.Identity().Name})
}
