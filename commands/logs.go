package commands

import (
	"context"

	"github.com/urfave/cli/v2"

	"github.com/pyplug/pyplug/runner/daemon"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/service"
)

// followLines is the default of --lines with --follow.
const followLines = 10

func logsCommand(f *program) command {
	var follow bool
	last := -1 // all
	followFlag := alias(switchFlag(&follow, "follow", "print new lines as they are added, until Ctrl-C"), "f")
	linesFlag := alias(countFlag(&last, 0, 1<<31-1, "lines", "begin with the last `N` lines (default: all; with --follow 10)"), "n")
	return command{names: allWords, Command: &cli.Command{
		Name:      "logs",
		Usage:     "print the log of a background plugin",
		ArgsUsage: "NAME",
		Flags:     append([]cli.Flag{followFlag, linesFlag}, f.opts.flags()...),
		Action: func(c *cli.Context) error {
			word, err := oneWord(c, "NAME")
			if err != nil {
				return err
			}
			if follow && !linesFlag.typed {
				last = followLines
			}
			return f.untilSignal(f.logs(c.Context, word, last, follow))
		},
	}}
}

// logs prints the last lines of a log, and with follow those that are added.
func (f *program) logs(ctx context.Context, word string, last int, follow bool) error {
	e, err := service.FindRunning(ctx, word)
	name := e.Name
	if isNotRunning(err) && daemon.ValidName(word) {
		name, err = word, nil // the log of a killed daemon is kept
	}
	if err != nil {
		return err
	}
	err = daemon.ReadLog(ctx, name, last, follow, func(l daemon.Line) error {
		return f.write(ctx, func() error {
			return f.streams.LogLine(name, l.Time, l.Generation, l.Stream, l.Text, f.opts.json || f.opts.logJSON)
		})
	})
	if err == nil && follow {
		return hook.NewError(hook.Canceled, context.Cause(ctx))
	}
	return err
}
